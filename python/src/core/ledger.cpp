// The ledger.
#include "core/ledger.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <sys/stat.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/bindings.h"
#include "core/numbers.h"
#include "snapdp/error.h"
#include "snapdp/release/declaration.h"

namespace snapdp::python {
namespace {

std::mutex open_mutex;  // guards open_files()

// One entry a HeldLedger; never destroyed, as modules may outlive static objects.
std::multiset<std::pair<dev_t, ino_t>>& open_files() {
  static auto* const files = new std::multiset<std::pair<dev_t, ino_t>>;
  return *files;
}

// Everything about a ledger waits for other processes, so it is done without the interpreter's lock.
template <typename Action>
auto unlocked(HeldLedger& ledger, const Action& action) {
  const nb::gil_scoped_release released;
  return ledger.with(action);
}

// The declaration is TOML text, or the path of a file.
HeldLedger* create(const std::string& path, const std::optional<std::string>& text,
                   const std::optional<std::string>& file, const std::string& measure,
                   const std::string& value, const std::string& delta) {
  const nb::gil_scoped_release released;
  const std::filesystem::path place = path;
  // The ledger keeps where the data lie as seen from its own folder.
  const Declaration declaration =
      (text ? Declaration::parse(*text, "declaration", "") : Declaration::read(*file))
          .moved_to(place.parent_path());
  return new HeldLedger(Ledger::create(place, declaration.identity(), budget_of(measure, value, delta),
                                       declaration.canonical_text()));
}

Facts described(const LedgerBalance& balance) {
  const PrivacyMeasure measure = balance.budget.measure;
  Facts facts;
  facts["measure"] = to_string(measure);
  facts["budget"] = to_string(balance.budget.amount.value);
  facts["spent"] = to_string(balance.spent.value);
  facts["remaining"] = to_string(balance.remaining.value);
  facts["delta"] = to_string(balance.budget.amount.delta);
  facts["spent_delta"] = to_string(balance.spent.delta);
  facts["remaining_delta"] = to_string(balance.remaining.delta);
  facts["releases"] = balance.releases;
  facts["budget_shown"] = in_words_down(measure, balance.budget.amount);
  facts["spent_shown"] = in_words(measure, balance.spent);
  facts["remaining_shown"] = in_words_down(measure, balance.remaining);
  facts["anchor"] = to_string(balance.anchor);
  return facts;
}

Facts described(const LedgerEntry& entry) {
  Facts facts;
  facts["release"] = entry.release;
  facts["time"] = entry.time;
  facts["cost"] = to_string(entry.cost.value);
  facts["delta"] = to_string(entry.cost.delta);
  facts["spent"] = to_string(entry.spent.value);
  facts["spent_delta"] = to_string(entry.spent.delta);
  nb::list charges;
  for (const LedgerCharge& charge : entry.charges)
    charges.append(nb::make_tuple(charge.name, to_string(charge.loss.epsilon), to_string(charge.loss.delta),
                                  to_string(charge.loss.rho)));
  facts["charges"] = charges;
  facts["label"] = entry.label;
  facts["reported"] = entry.reported;
  return facts;
}

}  // namespace

HeldLedger::HeldLedger(Ledger ledger) : ledger_(std::move(ledger)) {
  const std::lock_guard lock(open_mutex);
  if (file_) open_files().insert(*file_);
}

HeldLedger::~HeldLedger() {
  const std::lock_guard lock(open_mutex);
  if (file_) static_cast<void>(open_files().extract(*file_));
}

std::optional<HeldLedger::FileId> HeldLedger::file_at(const std::filesystem::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId(status.st_dev, status.st_ino);
}

bool HeldLedger::lies_at(const std::filesystem::path& path) {
  const std::optional<FileId> file = file_at(path);
  const std::lock_guard lock(open_mutex);
  return file && (open_files().contains(*file) || Ledger::lies_at(path));
}

void bind_ledger(nb::module_& module) {
  module.def("create_ledger", &create, nb::arg("path"), nb::arg("text").none(), nb::arg("file").none(),
             nb::arg("measure"), nb::arg("value"), nb::arg("delta"), nb::rv_policy::take_ownership);
  module.def(
      "ledger_lies_at", [](const std::string& path) { return HeldLedger::lies_at(path); }, nb::arg("path"),
      nb::call_guard<nb::gil_scoped_release>());
  nb::class_<HeldLedger>(module, "Ledger")
      .def(
          "__init__",
          [](HeldLedger* self, const std::string& path) {
            const nb::gil_scoped_release released;
            Ledger ledger = Ledger::open(path);
            new (self) HeldLedger(std::move(ledger));
          },
          nb::arg("path"))
      .def_prop_ro("path",
                   [](HeldLedger& self) {
                     return unlocked(self, [](Ledger& ledger) { return ledger.path().string(); });
                   })
      .def_prop_ro(
          "identity",
          [](HeldLedger& self) {
            const LedgerIdentity identity = unlocked(self, [](Ledger& ledger) { return ledger.identity(); });
            return std::tuple(identity.dataset, to_string(identity.neighbors), identity.privacy_unit);
          })
      .def_prop_ro("declaration",
                   [](HeldLedger& self) {
                     return unlocked(self, [](Ledger& ledger) { return ledger.declaration(); });
                   })
      .def("balance",
           [](HeldLedger& self) {
             return described(unlocked(self, [](Ledger& ledger) { return ledger.balance(); }));
           })
      .def("entries",
           [](HeldLedger& self) {
             nb::typed<nb::list, Facts> all;
             for (const LedgerEntry& entry : unlocked(self, [](Ledger& ledger) { return ledger.entries(); }))
               all.append(described(entry));
             return all;
           })
      .def(
          "entry",
          [](HeldLedger& self, std::int64_t release) {
            return described(unlocked(self, [&](Ledger& ledger) { return ledger.entry(release); }));
          },
          nb::arg("release"))
      .def(
          "find",
          [](HeldLedger& self, const std::string& label) {
            return unlocked(self, [&](Ledger& ledger) { return ledger.find(label); });
          },
          nb::arg("label"))
      .def(
          "specification",
          [](HeldLedger& self, std::int64_t release) {
            return unlocked(self, [&](Ledger& ledger) { return ledger.specification(release); });
          },
          nb::arg("release"))
      .def(
          "report",
          [](HeldLedger& self, std::int64_t release) {
            return unlocked(self, [&](Ledger& ledger) { return ledger.report(release); });
          },
          nb::arg("release"))
      .def(
          "verify",
          [](HeldLedger& self, const std::vector<std::string>& lines) {
            std::vector<LedgerAnchor> anchors;
            for (const std::string& line : lines) anchors.push_back(parse_anchor(line, "anchors"));
            return described(unlocked(self, [&](Ledger& ledger) {
              LedgerBalance balance = ledger.verify(anchors);
              static_cast<void>(
                  Declaration::of(ledger));  // throws unless it can be read and is of this dataset
              return balance;
            }));
          },
          nb::arg("anchors"));
}

}  // namespace snapdp::python
