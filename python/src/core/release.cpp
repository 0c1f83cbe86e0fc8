// Releases and reports.
#include "snapdp/release/release.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/bindings.h"
#include "core/elsewhere.h"
#include "core/ledger.h"
#include "core/plan.h"
#include "core/source.h"
#include "core/style.h"
#include "snapdp/release/check.h"
#include "snapdp/text.h"

namespace snapdp::python {

Progress progress_of(const Callbacks& callbacks) {
  return [&callbacks](double percent) {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!callbacks.progress.is_none()) callbacks.progress(percent);
  };
}

std::unique_ptr<Source> open_for(const Plan& plan, const Callbacks& callbacks) {
  const Declaration& declaration = plan.specification().data;
  const nb::gil_scoped_acquire locked;
  const nb::object opened = callbacks.open(
      declaration.path.string(),
      declaration.format ? (*declaration.format == Declaration::Format::csv ? "csv" : "parquet") : "",
      declaration.delimiter ? std::string(1, *declaration.delimiter) : std::string(), columns_of(plan),
      texts_of(plan));
  return nb::cast<HeldSource&>(opened).take();
}

namespace {

// What is read is what the plan in force reads: under the ledger's declaration, which may say more than the plan's own.
OpenSource source_of(const HeldPlan& plan, const Ledger& ledger, const Callbacks& callbacks) {
  return [&](const Declaration&) {
    const std::optional<Declaration> declared = Declaration::of(ledger);
    if (!declared) return open_for(plan.plan, callbacks);
    return open_for(Plan(plan.plan.specification().under(*declared)), callbacks);
  };
}

// Writes the record of a report that the ledger could not keep into a new file beside it, which its owner alone may
// read. Says where it is, or why there is none; never throws, as the release is paid for.
std::string save_beside(const Ledger& ledger, std::int64_t release, const std::string& record) noexcept {
  try {
    const std::string ending = ".json";
    std::string path = ledger.path().string() + ".release-" + std::to_string(release) + "-XXXXXX" + ending;
    const int file = ::mkstemps(path.data(), static_cast<int>(ending.size()));  // with mode 0600
    if (file < 0) return "nor could it be written beside it";
    std::string_view rest = record;
    while (!rest.empty()) {
      const ssize_t written = ::write(file, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) break;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    const bool whole = rest.empty() && ::fsync(file) == 0;
    if (::close(file) == 0 && whole) return "its record is in " + quoted_path(path);
    ::unlink(path.c_str());
    return "nor could it be written beside it";
  } catch (const std::exception&) {
    return "nor could it be written beside it";
  }
}

// A report with what its ledger says of it.
struct HeldReport {
  Report report;
  std::optional<std::int64_t> release = {};
  ReportProvenance provenance = {};
  std::string not_stored = {};
  bool reprinted = false;
};

HeldReport* run(const HeldPlan& plan, HeldLedger& ledger, nb::object open, nb::object progress,
                const std::string& label) {
  const Callbacks callbacks{std::move(open), std::move(progress)};
  const nb::gil_scoped_release unlocked;
  return ledger.with([&](Ledger& held) {
    ReleaseOptions options;
    options.progress = progress_of(callbacks);
    options.label = label;
    Released released = release(plan.plan.specification(), held, source_of(plan, held, callbacks), options);
    if (!released.not_stored.empty() && released.release)
      released.not_stored += "; " + save_beside(held, *released.release, released.report.json());
    ReportProvenance provenance;
    if (released.release) provenance = provenance_of(held, *released.release);
    return new HeldReport{std::move(released.report), released.release, std::move(provenance),
                          std::move(released.not_stored), released.reprinted};
  });
}

void run_dry(const HeldPlan& plan, HeldLedger& ledger, nb::object open, nb::object progress,
             const std::string& label) {
  const Callbacks callbacks{std::move(open), std::move(progress)};
  const nb::gil_scoped_release unlocked;
  ledger.with([&](Ledger& held) {
    ReleaseOptions options;
    options.progress = progress_of(callbacks);
    options.label = label;
    static_cast<void>(dry_run(plan.plan.specification(), held, source_of(plan, held, callbacks), options));
  });
}

// (text, JSON) of the exact, unprotected check.
std::pair<std::string, std::string> run_check(const HeldPlan& plan, nb::object open, nb::object progress) {
  const Callbacks callbacks{std::move(open), std::move(progress)};
  const nb::gil_scoped_release unlocked;
  const std::unique_ptr<Source> source = open_for(plan.plan, callbacks);
  const DataCheck check = check_data(plan.plan, *source, progress_of(callbacks));
  return {check.to_text(), check.to_json()};
}

}  // namespace

void bind_release(nb::module_& module) {
  bind_source(module);
  bind_elsewhere(module);
  nb::class_<HeldReport>(module, "Report")
      .def(
          "__init__",
          [](HeldReport* self, const std::string& json, HeldLedger* ledger,
             const std::optional<std::int64_t>& release) {
            const nb::gil_scoped_release unlocked;
            HeldReport report{Report::from_json(json)};
            report.release = release;
            if (ledger != nullptr && release)
              report.provenance = ledger->with([&](Ledger& held) { return provenance_of(held, *release); });
            new (self) HeldReport(std::move(report));
          },
          nb::arg("json"), nb::arg("ledger").none(), nb::arg("release").none())
      .def_prop_ro("release", [](const HeldReport& self) { return self.release; })
      .def_prop_ro("time", [](const HeldReport& self) { return self.provenance.time; })
      .def_prop_ro("not_stored", [](const HeldReport& self) { return self.not_stored; })
      .def_prop_ro("reprinted", [](const HeldReport& self) { return self.reprinted; })
      .def("to_json", [](const HeldReport& self) { return self.report.json(); })
      .def(
          "to_table",
          [](const HeldReport& self, std::size_t width, const std::string& marks, bool color,
             bool all_digits) {
            return self.report.to_table(style_of(width, marks, color, all_digits), self.provenance);
          },
          nb::arg("width"), nb::arg("marks"), nb::arg("color"), nb::arg("all_digits"))
      .def("to_html", [](const HeldReport& self) { return self.report.to_html(self.provenance); })
      .def("to_csv", [](const HeldReport& self) { return self.report.to_csv(); })
      .def("to_markdown", [](const HeldReport& self) { return self.report.to_markdown(); });
  module.def("release", &run, nb::arg("plan"), nb::arg("ledger"), nb::arg("open"), nb::arg("progress").none(),
             nb::arg("label"), nb::rv_policy::take_ownership);
  module.def("dry_run", &run_dry, nb::arg("plan"), nb::arg("ledger"), nb::arg("open"),
             nb::arg("progress").none(), nb::arg("label"));
  module.def("check", &run_check, nb::arg("plan"), nb::arg("open"), nb::arg("progress").none());
}

}  // namespace snapdp::python
