// A whole release from C++: what a custodian declares, what an analyst asks, rows from a CSV file, a report.
#include <snapdp/snapdp.h>

#include <filesystem>
#include <fstream>
#include <iostream>

using namespace snapdp;

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  std::ofstream(folder / "people.csv") << "age,city\n31,ulm\n45,bonn\n27,ulm\n62,ulm\n";

  // Once, by the custodian. The ledger keeps it.
  const Declaration declaration = Declaration::parse(R"(
[data]
path = "people.csv"
dataset = "people"
neighbors = "add-remove"
[columns.age]
bounds = [0, 100]
[columns.city]
keys = ["ulm", "bonn", "kiel"]
)",
                                                     "people.toml", folder);
  Ledger ledger = Ledger::create(folder / "specification.ledger", declaration.identity(), 2,
                                 declaration.canonical_text());

  // By an analyst, who decides nothing about how the file is read.
  const Specification asked = Specification::parse(R"(
[budget]
epsilon = 1
[[statistic]]
name = "people"
kind = "count"
epsilon = "1/2"
[[statistic]]
name = "by city"
kind = "count"
group_by = "city"
epsilon = "1/2"
)",
                                                   "question.toml", folder, Declaration::of(ledger));
  std::cout << Plan(asked).to_table() << "\n";

  const Released released = release(asked, ledger, [](const Declaration& data) {
    return open_duckdb_source({.path = data.path.string()});
  });
  std::cout << released.report.to_table();
}
