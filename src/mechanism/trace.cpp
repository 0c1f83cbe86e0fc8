#include "snapdp/mechanism/trace.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/mechanism/gaussian.h"
#include "snapdp/mechanism/precision_snapping.h"
#include "snapdp/random/word_source.h"

namespace snapdp {
namespace {

enum Field : std::size_t {
  epsilon,
  sensitivity,
  lower,
  upper,
  value,
  grid,
  precision,
  scale,
  sign,
  uniform_bits,
  output
};
constexpr std::array<std::string_view, 11> names = {"epsilon", "sensitivity",  "lower",     "upper",
                                                    "value",   "grid",         "precision", "scale",
                                                    "sign",    "uniform_bits", "output"};

[[noreturn]] void refuse(std::size_t line, std::string_view column, const std::string& rule) {
  std::string where = "line " + std::to_string(line);
  if (!column.empty()) where += ", column " + std::string(column);
  throw Error(ErrorCode::bad_data, std::string(column.empty() ? "vectors" : column), where + ": " + rule);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

struct Line {
  std::string_view text;
  std::string_view end;  // "\n", "\r\n" or, in the last line, nothing
};

// Takes the first line off `text`.
Line take_line(std::string_view& text) {
  const std::size_t size = std::min(text.find('\n'), text.size());
  const std::size_t carriage_return = size < text.size() && size > 0 && text[size - 1] == '\r' ? 1 : 0;
  const std::size_t newline = size < text.size() ? 1 : 0;
  const Line line = {text.substr(0, size - carriage_return),
                     text.substr(size - carriage_return, carriage_return + newline)};
  text.remove_prefix(size + newline);
  return line;
}

// Where each known column stands in the file.
struct Header {
  std::array<std::size_t, names.size()> place;
  std::size_t columns;
  bool precision_mode;  // there is a column `precision`, and so none `grid`
  bool gaussian;        // there is a column `scale`, and so none `epsilon` and `sensitivity`
};

Header parse_header(std::string_view line) {
  const std::vector<std::string_view> cells = split(line);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) refuse(1, "", "a column without a name; begin with the header of column names");
    const std::string column = shown_text(cells[i].substr(0, 40));
    if (std::find(names.begin(), names.end(), cells[i]) == names.end()) {
      refuse(1, column, "is not a column of these vectors; remove it or correct its name");
    }
    if (std::find(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(i), cells[i]) !=
        cells.begin() + static_cast<std::ptrdiff_t>(i)) {
      refuse(1, column, "occurs twice; remove one");
    }
  }
  const auto has = [&](Field column) {
    return std::find(cells.begin(), cells.end(), names[column]) != cells.end();
  };
  Header header = {{}, cells.size(), has(precision), has(scale)};
  if (header.precision_mode && has(grid)) {
    refuse(1, names[precision], "implies a grid and does not go with the column grid; remove one of the two");
  }
  for (const Field other : {epsilon, sensitivity, precision}) {
    if (header.gaussian && has(other)) {
      refuse(1, names[scale],
             "is of Gaussian noise and does not go with the column " + std::string(names[other]) +
                 "; remove one of the two");
    }
  }
  for (std::size_t name = 0; name < names.size(); ++name) {
    if (name == (header.precision_mode ? grid : precision)) continue;
    if (header.gaussian ? name == epsilon || name == sensitivity : name == scale) continue;
    const auto found = std::find(cells.begin(), cells.end(), names[name]);
    if (found == cells.end()) refuse(1, names[name], "is missing from the header; add it");
    header.place[name] = static_cast<std::size_t>(found - cells.begin());
  }
  return header;
}

// One row of the file.
class TraceRow {
 public:
  TraceRow(const Header& header, const std::vector<std::string_view>& cells, std::size_t line)
      : header_(header), cells_(cells), line_(line) {}

  std::string_view text(Field column) const { return cells_[header_.place[column]]; }
  [[noreturn]] void refuse(Field column, const std::string& rule) const {
    snapdp::refuse(line_, names[column], rule);
  }

  Rational number(Field column) const {
    if (text(column).empty()) refuse(column, "must not be empty");
    try {
      return parse_rational(text(column), names[column]);
    } catch (const Error& error) {
      refuse(column, error.what());
    }
  }

  double real(Field column) const {
    const Rational exact = number(column);
    const double nearest = to_double_nearest(exact);
    if (nearest - nearest != 0 || Rational(nearest) != exact) refuse(column, "is not exactly a double");
    return nearest;
  }

  std::optional<double> optional_real(Field column) const {
    if (text(column).empty()) return std::nullopt;
    return real(column);
  }

  GridChoice grid_choice() const {
    if (text(grid).empty()) return GridChoice::notes();
    const Dyadic spacing(real(grid));
    if (spacing.mantissa() != 1)
      refuse(grid, "must be a power of two, or empty for the smallest one >= scale");
    return GridChoice(Grid(spacing.exponent()));
  }

  long precision_bits() const {
    const Rational bits = number(precision);
    if (bits.get_den() != 1 || !bits.get_num().fits_slong_p()) refuse(precision, "must be a number of bits");
    return bits.get_num().get_si();
  }

  bool precision_mode() const { return header_.precision_mode; }
  bool gaussian() const { return header_.gaussian; }

  bool minus() const {
    if (text(sign) != "1" && text(sign) != "-1") refuse(sign, "must be 1 or -1");
    return text(sign) == "-1";
  }

  // The words of the sample (see snapping.h), the last one filled up with ones or zeros.
  std::vector<std::uint64_t> words(bool filling) const {
    const std::string_view digits = text(uniform_bits);
    if (digits.empty()) refuse(uniform_bits, "must not be empty");
    // More bits than any sample draws, and few enough that those which decide late are computed soon.
    constexpr std::size_t most_digits = 4096;
    if (digits.size() > most_digits) {
      refuse(uniform_bits, "has more than " + std::to_string(most_digits) +
                               " digits; leave out those after the one that decides the output");
    }
    std::vector<std::uint64_t> words = {};
    std::size_t free = 0;  // bits still to be set in the last word
    const auto append = [&](bool bit) {
      if (free == 0) {
        words.push_back(words.empty() && minus() ? 1 : 0);
        free = 64;
      }
      --free;
      words.back() |= static_cast<std::uint64_t>(bit) << free;
      // Bit 0 of the first word is the sign.
      if (words.size() == 1 && free == 1) free = 0;
    };
    for (const char digit : digits) {
      unsigned nibble = 0;
      if (digit >= '0' && digit <= '9') {
        nibble = static_cast<unsigned>(digit - '0');
      } else if (digit >= 'a' && digit <= 'f') {
        nibble = static_cast<unsigned>(digit - 'a') + 10;
      } else if (digit >= 'A' && digit <= 'F') {
        nibble = static_cast<unsigned>(digit - 'A') + 10;
      } else {
        refuse(uniform_bits, "must be hexadecimal digits");
      }
      for (unsigned bit = 4; bit-- > 0;) append((nibble >> bit & 1) != 0);
    }
    while (free > 0) append(filling);
    return words;
  }

 private:
  const Header& header_;
  const std::vector<std::string_view>& cells_;
  std::size_t line_;
};

template <typename Mechanism>
double replay_once(const Mechanism& mechanism, double statistic, std::vector<std::uint64_t> words,
                   const ReplayOptions& options) {
  RecordedTape tape(std::move(words));
  double result = 0;
  mechanism.replay(std::span(&statistic, 1), std::span(&result, 1), tape, options);
  return result;
}

template <typename Mechanism>
double recompute(const Mechanism& mechanism, const TraceRow& row, const ReplayOptions& options) {
  const double statistic = row.real(value);
  // The output is monotone in U: it is decided by the bits given when all zeros and all ones after them
  // agree.
  const double least = replay_once(mechanism, statistic, row.words(false), options);
  const double greatest = replay_once(mechanism, statistic, row.words(true), options);
  if (least != greatest) row.refuse(uniform_bits, "these bits do not decide the output; give more of them");
  return least;
}

// The output of a row.
double recompute(const TraceRow& row, const ReplayOptions& options) {
  if (row.gaussian()) {
    return recompute(Gaussian({.sensitivity = 1,  // moves no output
                               .lower = row.optional_real(lower),
                               .upper = row.optional_real(upper),
                               .grid = row.grid_choice(),
                               .noise = NoiseKind::gaussian,
                               .scale = row.real(scale)}),
                     row, options);
  }
  if (row.precision_mode()) {
    return recompute(PrecisionSnapping({.epsilon = row.number(epsilon),
                                        .sensitivity = row.real(sensitivity),
                                        .lower = row.optional_real(lower),
                                        .upper = row.optional_real(upper),
                                        .precision = row.precision_bits()}),
                     row, options);
  }
  return recompute(Snapping({.epsilon = row.number(epsilon),
                             .sensitivity = row.real(sensitivity),
                             .lower = row.optional_real(lower),
                             .upper = row.optional_real(upper),
                             .grid = row.grid_choice()}),
                   row, options);
}

}  // namespace

std::string trace(std::string_view vectors, const ReplayOptions& options) {
  require_supported(options.kernel);
  std::string result;
  result.reserve(vectors.size());
  const Line first = take_line(vectors);
  const Header header = parse_header(first.text);
  result.append(first.text).append(first.end);
  for (std::size_t line = 2; !vectors.empty(); ++line) {
    const auto [text, end] = take_line(vectors);
    if (text.empty() && vectors.empty()) {  // a blank last line
      result += end;
      break;
    }
    const std::vector<std::string_view> cells = split(text);
    if (cells.size() != header.columns) {
      refuse(line, "",
             "has " + std::to_string(cells.size()) + " cells where the header has " +
                 std::to_string(header.columns));
    }
    double recomputed = 0;
    try {
      recomputed = recompute(TraceRow(header, cells, line), options);
    } catch (const Error& error) {
      if (error.parameter() == "tape") {
        refuse(line, names[uniform_bits], "these bits do not decide the output; give more of them");
      }
      if (error.code() == ErrorCode::bad_data) throw;
      refuse(line, error.parameter(), error.what());
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) result += ',';
      if (i == header.place[output]) {
        result += to_hex(recomputed);
      } else {
        result += cells[i];
      }
    }
    result += end;
  }
  return result;
}

InstructionSet parse_kernel(std::string_view text, std::string_view parameter) {
  if (text == "best") return best_instruction_set();
  for (const InstructionSet set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (text == to_string(set)) {
      require_supported(set);
      return set;
    }
  }
  throw Error(
      ErrorCode::invalid_argument, std::string(parameter),
      std::string(parameter) + " = " + quoted_text(text, 40) + ": must be best, portable, avx2 or avx512");
}

}  // namespace snapdp
