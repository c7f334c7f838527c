// Loaded before the C library (LD_PRELOAD), makes chosen calls of a program fail as a full disk, a broken one or a want
// of memory would. ROOFSCAPE_FAULT names one call and which it is of its kind, counted from main():
//   create=N                     that temporary file and all after it cannot be made, as in a read-only folder
//   write=N, fsync=N, rename=N   that one and all after it fail, of files; ENOSPC, EIO, EACCES
//   allocate=N                   that one fails
//   allocate_above=BYTES         all larger ones fail
// Linux with the GNU C library.
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

// One kind of call and which of them fails; nothing before main().
struct Fault {
  const char* name;
  std::atomic<unsigned long> chosen{0}, calls{0};
  bool reached() { return chosen != 0 && ++calls >= chosen; }
  bool is_it() { return chosen != 0 && ++calls == chosen; }
};
Fault fault_of_create{"create="}, fault_of_write{"write="}, fault_of_fsync{"fsync="}, fault_of_rename{"rename="},
    fault_of_allocate{"allocate="};
std::atomic<unsigned long> most_bytes{0};

void choose_fault() {
  const char* wanted = std::getenv("ROOFSCAPE_FAULT");
  if (wanted == nullptr) return;
  for (Fault* fault : {&fault_of_create, &fault_of_write, &fault_of_fsync, &fault_of_rename, &fault_of_allocate})
    if (const std::size_t length = std::strlen(fault->name); std::strncmp(wanted, fault->name, length) == 0)
      fault->chosen = std::strtoul(wanted + length, nullptr, 10);
  constexpr const char kAbove[] = "allocate_above=";
  if (std::strncmp(wanted, kAbove, sizeof kAbove - 1) == 0)
    most_bytes = std::strtoul(wanted + sizeof kAbove - 1, nullptr, 10);
}

bool is_refused(std::size_t bytes) {
  if ((most_bytes == 0 || bytes <= most_bytes) && !fault_of_allocate.is_it()) return false;
  errno = ENOMEM;
  return true;
}

bool is_file(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

template <class Call>
Call next(const char* name) {
  return reinterpret_cast<Call>(::dlsym(RTLD_NEXT, name));
}

int (*program)(int, char**, char**) = nullptr;
int main_with_faults(int argc, char** argv, char** environment) {
  choose_fault();
  return program(argc, argv, environment);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) { return is_refused(bytes) ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) {
  return is_refused(count * bytes) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) { return is_refused(bytes) ? nullptr : __libc_realloc(old, bytes); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return is_refused(bytes) ? nullptr : __libc_memalign(alignment, bytes);
}

int mkstemp(char* name) {
  static const auto real = next<int (*)(char*)>("mkstemp");
  if (fault_of_create.reached()) {
    errno = EROFS;
    return -1;
  }
  return real(name);
}

ssize_t write(int fd, const void* bytes, std::size_t count) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
  if (is_file(fd) && fault_of_write.reached()) {
    errno = ENOSPC;
    return -1;
  }
  return real(fd, bytes, count);
}

int fsync(int fd) {
  static const auto real = next<int (*)(int)>("fsync");
  if (fault_of_fsync.reached()) {
    errno = EIO;
    return -1;
  }
  return real(fd);
}

int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  if (fault_of_rename.reached()) {
    errno = EACCES;
    return -1;
  }
  return real(from, to);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, int (*init)(int, char**, char**),
                      void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  program = main;
  using Start =
      int (*)(int (*)(int, char**, char**), int, char**, int (*)(int, char**, char**), void (*)(), void (*)(), void*);
  return next<Start>("__libc_start_main")(main_with_faults, argc, argv, init, fini, rtld_fini, stack_end);
}

}  // extern "C"
