// From rows to a released value: a chain of proved parts, a ledger that pays, and the value.
#include <snapdp/snapdp.h>

#include <filesystem>
#include <iostream>
#include <vector>

using namespace snapdp;

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  const std::vector<double> rows{31, 45, 27, 62, 38, 51, 44, 29};

  const auto ages = vector_domain<double>().of_size(rows.size());
  const auto clamped = make_clamp(ages, change_one(), Bounds(0, 100));
  const auto mean_age = clamped >> make_mean() >> make_snapping({.epsilon = "1/4"});

  // Known before any row is read.
  std::cout << "loss between neighbors: " << to_string(mean_age.loss()) << "\n"
            << "95 times in 100 it is right to " << mean_age.accuracy(0.05).tight << "\n";

  const LedgerIdentity people{"people", Neighbors::change_one, ""};
  Ledger ledger = Ledger::create(folder / "chain_and_ledger.ledger", people, 1);
  LedgerAccountant accountant(ledger, people, "mean_age");
  const Release released = mean_age.release(rows, accountant);  // debits the file, durably, then draws

  std::cout << "mean age: " << to_string(released.values[0]) << "\n"
            << "left in the ledger: " << to_string(accountant.receipt()->remaining.value) << "\n";
}
