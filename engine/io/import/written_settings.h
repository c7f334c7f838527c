// Settings in a file that is given to a program: one that a launch script writes (`cat > server.yml << EOF ...`, then
// `--config server.yml`), or the file by itself. For the .cpp files of engine/io.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "engine/io/import/command_keys.h"
#include "engine/io/import/document.h"
#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_formats.h"

namespace roofscape::io {

// How a setting is called among the keys: by its path ("kv_cache_config.dtype"), or as the flag it stands for
// ("--max-num-seqs" of "max-num-seqs"). A key that is there already, of the command line, counts.
enum class SettingNames { paths, flags };

// Where the settings are when the script does not write them: in a file that can be imported by itself, which the line adds
// to, or in one that says nothing without the line.
enum class UnwrittenSettings { importable, of_line };

// Settings that have the names of flags, as keys: "tensor-parallel-size: 4" is --tensor-parallel-size 4.
void take_flag_settings(const Node& settings, std::span<const ShortFlag> shorts, KeyReader& keys);
// Whether settings are a server's: one names what is served, and one is among these flags.
bool are_server_settings(const Node& settings, std::string_view model_flag,
                         std::initializer_list<std::string_view> flags);

// The settings of that YAML, TOML or JSON file as keys. Where the script writes no such file the plan says that it is not
// what would run. Failure: what it writes cannot be read.
Failure take_written_settings(const LaunchSource&, const Stated<std::string>& file, SettingNames, UnwrittenSettings,
                              KeyReader&, LaunchPlan&);

}  // namespace roofscape::io
