// DuckDB's C API, out of a shared object that is named at run time: the library of a checkout, or the module of DuckDB's
// own Python package, which exports it. The engine of files calls it as ever; nothing is bundled.
#pragma once

#include <string>

namespace snapdp::python {

// Loads `library`, or finds it loaded, and directs the engine's calls to it, for the rest of the process. To be called
// before the engine is used, and once: a second call does nothing. Error (io, "data"): it cannot be loaded, or lacks
// a function.
void load_duckdb(const std::string& library);

// "v1.4.4", of what was loaded; empty before.
std::string duckdb_version();

}  // namespace snapdp::python
