// Random specifications, valid in form, with numbers of every magnitude, and rows to release them from: for tests of what
// must hold whatever is asked. The same seed gives the same specification on every machine.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "snapdp/release/specification.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp {

class RandomSpecification {
 public:
  explicit RandomSpecification(std::uint64_t seed) : engine_(seed) {
    neighbors_ = chance(2) ? "add-remove" : "change-one";
    unit_ = add_remove() && chance(3);
    rows_ = pick<std::size_t>({1, 2, 3, 7, 40});
    shares_ = chance(5);
    text_ = joined({data(), "[budget]\nepsilon = ", quoted(shares_ ? positive(0) : "1e400"), "\n"});
    const int statistics = chance(4) ? 3 : 1;
    for (int i = 0; i < statistics; ++i) text_ += statistic("s" + std::to_string(i));
  }

  const std::string& text() const { return text_; }
  LedgerIdentity identity() const {
    return {"people", add_remove() ? Neighbors::add_remove : Neighbors::change_one, unit_ ? "u" : ""};
  }

  MemorySource source() {
    MemorySource source;
    MemorySource::Reals x;
    MemorySource::Reals y;
    MemorySource::Integers i;
    MemorySource::Integers u;
    MemorySource::Texts t;
    for (std::size_t row = 0; row < rows_; ++row) {
      x.push_back(cell());
      y.push_back(cell());
      i.push_back(pick<std::int64_t>({0, 1, -7, 100, std::numeric_limits<std::int64_t>::max()}));
      u.push_back(pick<std::int64_t>({1, 2, 3, 4}));
      t.push_back(pick<std::string_view>({"ulm", "bonn", "", std::string_view()}));
    }
    source.add("x", std::move(x)).add("y", std::move(y)).add("t", std::move(t));
    source.add({"i", AtomType::integer, ""}, std::move(i)).add({"u", AtomType::integer, ""}, std::move(u));
    return source;
  }

 private:
  bool add_remove() const { return neighbors_ == "add-remove"; }

  // One time in `times`.
  bool chance(unsigned times) { return engine_() % times == 0; }
  long between(long least, long most) {
    return least + static_cast<long>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  template <typename Value>
  Value pick(std::initializer_list<Value> values) {
    return *(values.begin() + engine_() % values.size());
  }

  std::string digits(long count) {
    std::string text(1, static_cast<char>('1' + engine_() % 9));
    while (static_cast<long>(text.size()) < count) text += static_cast<char>('0' + engine_() % 10);
    return text;
  }

  // A number > 0 near 10^magnitude, in one of the forms that people may write.
  std::string positive(long magnitude) {
    switch (engine_() % 6) {
      case 0:
        return joined({digits(between(1, 95)), "/", digits(between(1, 95)), "e", std::to_string(-magnitude)});
      case 1:
        return "1/" + std::to_string(between(2, 1000)) + "e" + std::to_string(-magnitude);
      case 2:
        return "0x1." + std::to_string(between(1, 9)) + "p" +
               std::to_string(static_cast<long>(static_cast<double>(magnitude) * 3.32));
      case 3:
        return "0." + digits(between(1, 95)) + "e" + std::to_string(magnitude);
      default:
        return std::to_string(between(1, 9)) + "e" + std::to_string(magnitude);
    }
  }

  // Usually ordinary, else anything up to 10^+-most.
  long magnitude(long most) {
    if (!chance(3)) return between(-2, 3);
    return chance(3) ? pick<long>({-most, most}) : between(-most, most);
  }

  // The parts one after the other. Within braces they are drawn in this order; compilers differ in the order of the operands
  // of "+", and a seed would then mean another specification to each.
  static std::string joined(std::initializer_list<std::string> parts) {
    std::string text;
    for (const std::string& part : parts) text += part;
    return text;
  }

  static std::string quoted(const std::string& text) { return "\"" + text + "\""; }

  double cell() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (chance(3)) {
      return pick<double>(
          {0.0, -0.0, std::nan(""), infinity, -infinity, 5e-324, -2.2e-308, 1.7e308, -1.7e308, 0.1, -1});
    }
    const auto significand = static_cast<double>(between(-1'000'000, 1'000'000));
    return std::ldexp(significand, static_cast<int>(between(-40, 10)));
  }

  std::string data() {
    std::string text = "[data]\ndataset = \"people\"\nneighbors = " + quoted(neighbors_) + "\n";
    if (!add_remove()) {
      text += "size = " + std::to_string(rows_) + "\n";
    } else if (chance(2)) {
      text +=
          "expected_size = " + pick<std::string>({"1", "2", "100", "1000000", "9223372036854775807"}) + "\n";
    }
    if (chance(4)) text += "nulls = { impute = " + quoted(positive(magnitude(300))) + " }\n";
    if (unit_) {
      text += "privacy_unit = \"u\"\nmax_rows_per_unit = " +
              pick<std::string>({"1", "2", "1000", "9223372036854775807"}) + "\n";
    }
    if (add_remove() && chance(4)) text += "where = \"x > -1e300 and not i in (1, 2e-200)\"\n";
    return text;
  }

  // [a, b] in quotes: of every sign and size.
  std::string bounds() {
    const long size = magnitude(308);
    if (chance(8)) {
      return pick<std::string>({"[0, \"5e-324\"]", "[\"-5e-324\", \"5e-324\"]",
                                "[0, \"1.7976931348623157e308\"]", "[\"-1.7e308\", \"1.7e308\"]",
                                "[\"1e308\", \"1.7e308\"]", "[\"1e-400\", 1]", "[1, \"1.0000000000000002\"]",
                                "[0, 0]", "[3, 3]", "[\"1e300\", \"1e300\"]",
                                "[\"2.2e-308\", \"2.3e-308\"]"});
    }
    const std::string upper = positive(size);
    switch (engine_() % 4) {
      case 0:
        return "[0, " + quoted(upper) + "]";
      case 1:
        return "[" + quoted("-" + positive(magnitude(308))) + ", " + quoted(upper) + "]";
      case 2:
        return "[" + quoted("-" + upper) + ", 0]";
      default:
        return "[" + quoted("-" + upper) + ", " + quoted(upper) + "]";
    }
  }

  std::string whole_bounds() {
    return pick<std::string>({"[0, 100]", "[-5, 3]", "[0, 9223372036854775807]",
                              "[-9223372036854775808, 9223372036854775807]", "[0, 0]", "[7, 7]"});
  }

  std::string numbers(long count, bool increasing) {
    std::vector<std::string> texts;
    const long start = between(-300, 0);
    for (long k = 0; k < count; ++k) {
      const long exponent = chance(3) ? start + 3 * k : k;
      texts.push_back(increasing ? "1e" + std::to_string(start + 2 * k) : positive(exponent));
    }
    if (increasing && chance(3)) texts.insert(texts.begin(), {"-1.7e308", "-5e-324", "0"});
    if (increasing && chance(3)) texts.push_back("1.7e308");
    std::string list;
    for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + quoted(text);
    return "[" + list + "]";
  }

  std::string texts(long count) {
    std::string list = "\"ulm\", \"bonn\"";
    for (long k = 0; k < count; ++k) {
      list +=
          ", " +
          quoted(pick<std::string>({"a", "\\\\u00e4", "\\\"q\\\"", "\\U0001F600", std::string(200, 'l')}) +
                 std::to_string(k));
    }
    return "[" + list + "]";
  }

  std::string price(bool quantiles) {
    std::string text;
    if (shares_) {
      text = "weight = " + quoted(positive(magnitude(100)));
    } else if (!quantiles && chance(4)) {
      text = "accuracy = " + quoted(positive(magnitude(305)));
    } else if (chance(3)) {
      text = "epsilon = " + quoted("1/" + std::to_string(101 + 2 * between(0, 400)));
    } else {
      text = "epsilon = " + quoted(positive(magnitude(305)));
    }
    if (!chance(3)) return text + "\n";
    return text + "\nalpha = " +
           quoted(pick<std::string>({"1/3", "1e-12", "1e-300", "0.999999", "1e-399", "0." + digits(90)})) +
           "\n";
  }

  std::string grid(bool parts) {
    if (chance(2)) return "";
    if (parts || chance(3)) return "grid = " + quoted(pick<std::string>({"auto", "notes"})) + "\n";
    const long exponent = chance(2) ? between(-60, 60) : between(-1000, 1000);
    return "grid = \"2^" + std::to_string(exponent) + "\"\n";
  }

  std::string split(std::size_t parts) {
    if (parts < 2 || !chance(3)) return "";
    std::string list;
    for (std::size_t i = 0; i < parts; ++i)
      list += (list.empty() ? "" : ", ") + quoted(positive(chance(4) ? between(-30, 30) : 0));
    return "split = [" + list + "]\n";
  }

  // What values and outputs are clamped to, and guesses at them.
  std::string range() {
    std::string text;
    if (chance(12)) text += "range = \"none\"\n";
    if (text.empty() && chance(8))
      text += "range = { gamma = " + quoted(pick<std::string>({"0.01", "1e-300", "1/3", "0.999"})) + " }\n";
    if (text.empty() && chance(6)) {
      const long size = magnitude(307);
      const std::string lower = pick<std::string>({"none", "0", "-" + positive(size)});
      text += "range = [" + quoted(lower) + ", " +
              quoted(lower != "none" && chance(4) ? "none" : positive(size)) + "]\n";
    }
    if (chance(8)) text += "guesses = [" + quoted(positive(magnitude(300))) + ", \"1/7\"]\n";
    return text;
  }

  std::string range_and_noise(bool integer, bool may_be_precise) {
    if (may_be_precise && chance(2)) return joined({range(), noise(integer, may_be_precise)});
    return noise(integer, may_be_precise);
  }

  std::string noise(bool integer, bool may_be_precise) {
    if (integer && chance(4)) return "noise = \"geometric\"\n";
    if ((!add_remove() || chance(4)) && may_be_precise && chance(4)) {
      return "mode = \"precision\"\n" +
             (chance(2) ? "precision = " + std::to_string(pick<int>({24, 53, 64, 118, 300})) + "\n"
                        : std::string());
    }
    return grid(!may_be_precise);
  }

  std::string nonnegative() { return chance(2) ? "nonnegative = true\n" : ""; }

  std::string groups() {
    if (!add_remove() || !chance(2)) return "";
    std::string text = chance(2) ? "group_by = \"t\"\nkeys = " + texts(between(0, 4)) + "\n"
                                 : "group_by = \"i\"\nkeys = [1, 2, 100, -7]\n";
    if (unit_ && chance(2)) {
      const auto limit = [&] { return pick<std::string>({"1", "2", "1000", "9223372036854775807"}) + "\n"; };
      text += joined({"max_groups_per_unit = ", limit(), "max_rows_per_group_per_unit = ", limit()});
    }
    return text;
  }

  std::string statistic(const std::string& name) {
    const auto kind = static_cast<StatisticKind>(engine_() % 12);
    std::string text = "[[statistic]]\nname = " + quoted(name) + "\nkind = " + quoted(to_string(kind)) + "\n";
    const std::size_t parts =
        parts_of(kind, add_remove() ? Neighbors::add_remove : Neighbors::change_one).size();
    switch (kind) {
      case StatisticKind::count:
        text += joined({nonnegative(), add_remove() ? range() : "", noise(true, true)});
        break;
      case StatisticKind::sum:
        text += chance(2)
                    ? joined({"column = \"i\"\ntype = \"integer\"\nbounds = ", whole_bounds(), "\n",
                              range_and_noise(true, true)})
                    : joined({"column = \"x\"\nbounds = ", bounds(), "\n", range_and_noise(false, true)});
        break;
      case StatisticKind::mean:
      case StatisticKind::variance:
      case StatisticKind::standard_deviation:
        text += joined(
            {"column = \"x\"\nbounds = ", bounds(), "\n", range_and_noise(false, parts == 0), split(parts)});
        break;
      case StatisticKind::covariance:
      case StatisticKind::correlation:
        text += joined({"columns = [\"x\", \"y\"]\nbounds = [", bounds(), ", ", bounds(), "]\n",
                        range_and_noise(false, parts == 0), split(parts)});
        break;
      case StatisticKind::moment:
        text += joined({"column = \"x\"\norder = ", std::to_string(between(1, 4)), "\nbounds = ", bounds(),
                        "\n", range_and_noise(false, true)});
        break;
      case StatisticKind::histogram:
        text += chance(2) ? joined({"column = \"t\"\ncategories = ", texts(between(0, 5)), "\n"})
                          : joined({"column = \"x\"\nedges = ", numbers(between(2, 9), true), "\n"});
        text += joined({chance(2) ? "other = \"bin\"\n" : "", nonnegative(), range_and_noise(true, true)});
        break;
      case StatisticKind::distinct:
        text += chance(2)
                    ? joined({"column = \"t\"\ncategories = ", texts(between(0, 5)), "\n"})
                    : joined({"column = \"x\"\ntype = \"real\"\ncategories = ", numbers(between(1, 9), false),
                              "\n"});
        text += range_and_noise(true, true);
        break;
      case StatisticKind::median:
        text += joined({"column = \"x\"\nedges = ", numbers(between(3, 40), true), "\n", noise(true, true)});
        break;
      case StatisticKind::quantiles:
        text += joined({"column = \"x\"\nedges = ", numbers(between(3, 40), true),
                        "\nquantiles = [0, \"1/3\", 0.5, \"0.", digits(60), "\", 1]\n", noise(true, true)});
        break;
      default:  // other kinds are not drawn: a seed keeps its specification
        break;
    }
    const bool quantiles = kind == StatisticKind::median || kind == StatisticKind::quantiles;
    return joined({text, groups(), price(quantiles)});
  }

  std::mt19937_64 engine_;
  std::string neighbors_;
  bool unit_ = false;
  bool shares_ = false;  // all statistics share the budget by weight
  std::size_t rows_ = 0;
  std::string text_;
};

}  // namespace snapdp
