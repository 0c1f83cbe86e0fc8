// Several statistics of a table in a file, private for whole people: one pass over the rows, one debit.
#include <snapdp/snapdp.h>

#include <filesystem>
#include <fstream>
#include <iostream>

using namespace snapdp;

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  std::ofstream(folder / "visits.csv") << "person,minutes\nann,30\nann,45\nann,10\nbob,20\ncid,\n";

  // Cells come as they are; what is no number counts as 0. At most two rows of a person count, so that one person more or
  // less moves the statistics by two rows at most.
  RowSelection visits;
  visits.unit = RowSelection::UnitLimit{.column = "person", .max_rows = 2};
  const auto cells = untrusted_domain({AtomType::real});
  const auto numbers = make_impute(cells, symmetric_distance(), {0});
  const auto minutes = numbers >> make_clamp(numbers.output_domain(), symmetric_distance(), {Bounds(0, 60)});

  const Composition both = make_on_table(
      visits,
      {{{"minutes"}, minutes >> make_sum() >> make_snapping({.epsilon = "1/2", .distance = 2})},
       {{"minutes"},
        make_count(cells, symmetric_distance()) >> make_snapping({.epsilon = "1/4", .distance = 2})}});
  std::cout << "a person loses at most " << to_string(both.loss()) << "\n";

  const LedgerIdentity identity{"visits", Neighbors::add_remove, "person"};
  Ledger ledger = Ledger::create(folder / "visits.ledger", identity, 1);
  LedgerAccountant accountant(ledger, identity, "minutes and visits");
  const auto table = open_duckdb_source({.path = (folder / "visits.csv").string()});
  const Release release = both.release(*table, accountant);
  std::cout << "minutes: " << to_string(release.values[0]) << ", visits: " << to_string(release.values[1])
            << ", left: " << to_string(accountant.receipt()->remaining.value) << "\n";
  return ledger.balance().spent == Rational(3, 4) ? 0 : 1;
}
