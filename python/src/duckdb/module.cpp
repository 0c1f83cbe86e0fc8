// The module _duckdb: files as sources of rows, by the engine that the command-line tool uses.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdio>  // nanobind takes stderr for granted
#include <memory>
#include <string>

#include "core/source.h"
#include "duckdb/capi.h"
#include "snapdp/engines/duckdb/duckdb_source.h"

namespace snapdp::python {
namespace {

// A capsule for _core.adopt_source(). Nothing is thrown across the two modules but by the source itself.
nb::object open_file(const std::string& path, const std::string& format, const std::string& delimiter,
                     unsigned threads) {
  DuckdbOptions options;
  options.path = path;
  options.threads = threads;
  if (!format.empty()) options.format = format == "csv" ? FileFormat::csv : FileFormat::parquet;
  if (!delimiter.empty()) options.delimiter = delimiter[0];
  std::unique_ptr<Source> source;
  {
    const nb::gil_scoped_release unlocked;
    source = open_duckdb_source(options);
  }
  nb::object capsule = nb::steal(PyCapsule_New(source.get(), source_capsule, [](PyObject* abandoned) {
    delete static_cast<Source*>(PyCapsule_GetPointer(abandoned, source_capsule));
  }));
  if (!capsule.is_valid()) throw nb::python_error();
  static_cast<void>(source.release());
  return capsule;
}

}  // namespace
}  // namespace snapdp::python

NB_MODULE(_duckdb, module) {
  using namespace snapdp::python;
  module.doc() = "SnapDP's engine of files.";
  bind_errors(module);
  module.attr("built_with") = SNAPDP_PYTHON_LIBDUCKDB;
  module.def("load", &load_duckdb, nb::arg("library"), nb::call_guard<nb::gil_scoped_release>());
  module.def("version", &duckdb_version);
  module.def("open_file", &open_file, nb::arg("path"), nb::arg("format"), nb::arg("delimiter"),
             nb::arg("threads"));
}
