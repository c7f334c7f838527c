// An SQLite export of Nsight Systems ("nsys export --type sqlite"): kernels, copies, launches and ranges of NVTX of every
// GPU that was profiled. The database is somebody's file: it is opened to be read only, nothing that its schema defines is
// run, and what is damaged is refused. For the .cpp files of engine/io/measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/io/measured/kernel_trace.h"
#include "engine/io/measured/text_stream.h"

namespace roofscape::io {

bool is_sqlite(std::string_view beginning);

// A trace for each GPU of each process.
Result<std::vector<RankTrace>> read_nsys_database(const std::string& path, const ReadProgress& progress);
// Of a database in memory.
Result<std::vector<RankTrace>> read_nsys_database_of(std::string_view bytes, const std::string& file);

}  // namespace roofscape::io
