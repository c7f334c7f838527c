// Whether the desktop asks for reduced motion: what its own settings files say, read once when the window starts. It is the
// default of "nothing slides into its place" (Settings::still), which a person may choose otherwise.
#pragma once

#include <filesystem>

namespace roofscape::app {

// True where one of them switches animations off: gtk-4.0/settings.ini and gtk-3.0/settings.ini (gtk-enable-animations),
// kdeglobals (AnimationDurationFactor), glib-2.0/settings/keyfile (org.gnome.desktop.interface enable-animations). GNOME's
// binary database is not read. A file that is missing or damaged says nothing.
bool asks_for_stillness(const std::filesystem::path& config);  // $XDG_CONFIG_HOME, else ~/.config; may be empty
bool system_asks_for_stillness();

}  // namespace roofscape::app
