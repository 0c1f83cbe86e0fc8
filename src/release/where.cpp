#include <algorithm>
#include <cctype>

#include "release/shared/suggestion.h"
#include "snapdp/error.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/release/declaration.h"

namespace snapdp {

using namespace release_internal;

// A comparison or a joint of conditions; texts or numbers, never both.
struct Where::Node {
  enum class Kind { compare, one_of, all, any, negated };
  Kind kind = Kind::compare;
  std::size_t column = 0;
  Comparison comparison = Comparison::equal;
  std::vector<Rational> numbers;
  std::vector<std::string> texts;
  std::vector<std::shared_ptr<const Node>> parts;
};

namespace {

using Node = Where::Node;

struct Token {
  enum class Kind { name, quoted_name, number, text, symbol, end };
  Kind kind = Kind::end;
  std::string value;
  std::size_t place = 0;  // in bytes from 0
};

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, "where", "where: " + message);
}

[[noreturn]] void refuse_at(std::size_t place, const std::string& message) {
  refuse("at character " + std::to_string(place + 1) + ": " + message);
}

// The locale has no say here.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    const std::size_t start = at_;
    if (at_ == text_.size()) return {Token::Kind::end, "", start};
    const char c = text_[at_];
    if (c == '\'' || c == '"') return quoted(c);
    if (is_letter(c)) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.'))
        ++at_;
      return {Token::Kind::name, std::string(text_.substr(start, at_ - start)), start};
    }
    const bool sign = (c == '-' || c == '+') && at_ + 1 < text_.size();
    const char first = sign ? text_[at_ + 1] : c;
    if (is_digit(first) || first == '.') return number();
    for (const std::string_view symbol : {"<=", ">=", "!=", "<>", "==", "<", ">", "=", "(", ")", ","}) {
      if (text_.substr(at_).starts_with(symbol)) {
        at_ += symbol.size();
        return {Token::Kind::symbol, std::string(symbol), start};
      }
    }
    refuse_at(start,
              quoted_text(text_.substr(start, 1)) +
                  " has no meaning here; a condition is made of columns, = != < <= > >= in, constants, "
                  "and, or, not and parentheses");
  }

 private:
  Token quoted(char quote) {
    const std::size_t start = at_++;
    std::string value;
    for (;; ++at_) {
      if (at_ == text_.size()) refuse_at(start, std::string("the quote ") + quote + " is not closed");
      if (text_[at_] == quote) {
        if (at_ + 1 == text_.size() || text_[at_ + 1] != quote) break;
        ++at_;
      }
      value += text_[at_];
    }
    ++at_;
    return {quote == '"' ? Token::Kind::quoted_name : Token::Kind::text, std::move(value), start};
  }

  // What may belong to a number, hexadecimal ones included; parse_rational judges.
  Token number() {
    const std::size_t start = at_++;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const char before = text_[at_ - 1];
      const bool exponent_sign =
          (c == '-' || c == '+') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      if (!is_digit(c) && !is_letter(c) && c != '.' && !exponent_sign) break;
      ++at_;
    }
    return {Token::Kind::number, std::string(text_.substr(start, at_ - start)), start};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

// Recursive descent, one function a rule of the grammar.
class WhereParser {
 public:
  explicit WhereParser(std::string_view text) : lexer_(text), token_(lexer_.next()) { where_.text_ = text; }

  Where parse() && {
    if (token_.kind == Token::Kind::end)
      refuse("it is empty; write a condition such as age >= 18, or leave the key out");
    where_.root_ = condition();
    if (token_.kind != Token::Kind::end) expected("and, or, or the end");
    return std::move(where_);
  }

 private:
  using Pointer = std::shared_ptr<const Node>;

  bool at_word(const char* word) const {
    return token_.kind == Token::Kind::name && lower(token_.value) == word;
  }
  bool at_symbol(const char* symbol) const {
    return token_.kind == Token::Kind::symbol && token_.value == symbol;
  }
  void advance() { token_ = lexer_.next(); }
  [[noreturn]] void expected(const std::string& what) const {
    refuse_at(token_.place,
              (token_.kind == Token::Kind::end ? "it ends" : quoted_text(token_.value) + " stands") +
                  std::string(" where ") + what + " is expected");
  }
  void take_symbol(const char* symbol) {
    if (!at_symbol(symbol)) expected(symbol);
    advance();
  }

  Pointer condition() {
    return joined(Node::Kind::any, "or",
                  [this] { return joined(Node::Kind::all, "and", [this] { return factor(); }); });
  }

  template <typename Part>
  Pointer joined(Node::Kind kind, const char* word, const Part& part) {
    Node node;
    node.kind = kind;
    node.parts.push_back(part());
    while (at_word(word)) {
      advance();
      node.parts.push_back(part());
    }
    return node.parts.size() == 1 ? node.parts.front() : std::make_shared<const Node>(std::move(node));
  }

  Pointer factor() {
    if (++depth_ > Where::max_depth) {
      refuse_at(token_.place,
                "conditions nest more than " + std::to_string(Where::max_depth) + " deep; write it flatter");
    }
    Pointer result;
    if (at_word("not")) {
      advance();
      result = negated(factor());
    } else if (at_symbol("(")) {
      advance();
      result = condition();
      take_symbol(")");
    } else {
      result = comparison();
    }
    --depth_;
    return result;
  }

  static Pointer negated(Pointer part) {
    Node node;
    node.kind = Node::Kind::negated;
    node.parts.push_back(std::move(part));
    return std::make_shared<const Node>(std::move(node));
  }

  Pointer comparison() {
    if (token_.kind == Token::Kind::number || token_.kind == Token::Kind::text)
      expected("a column (the column comes first: age >= 18, not 18 <= age)");
    if (token_.kind != Token::Kind::name && token_.kind != Token::Kind::quoted_name) expected("a column");
    Node node;
    node.column = column(token_.value);
    advance();
    if (at_word("in") || at_word("not")) {
      const bool negative = at_word("not");
      if (negative) {
        advance();
        if (!at_word("in")) expected("in");
      }
      advance();
      node.kind = Node::Kind::one_of;
      take_symbol("(");
      constant(node);
      while (at_symbol(",")) {
        advance();
        constant(node);
      }
      take_symbol(")");
      auto result = std::make_shared<const Node>(std::move(node));
      return negative ? negated(std::move(result)) : result;
    }
    static const std::vector<std::pair<std::string, Comparison>> symbols{
        {"=", Comparison::equal},      {"==", Comparison::equal},   {"!=", Comparison::not_equal},
        {"<>", Comparison::not_equal}, {"<", Comparison::less},     {"<=", Comparison::at_most},
        {">", Comparison::greater},    {">=", Comparison::at_least}};
    const auto found = std::find_if(symbols.begin(), symbols.end(), [&](const auto& symbol) {
      return token_.kind == Token::Kind::symbol && symbol.first == token_.value;
    });
    if (found == symbols.end()) expected("= != < <= > >= or in");
    node.comparison = found->second;
    const std::size_t place = token_.place;
    advance();
    constant(node);
    if (!node.texts.empty() && node.comparison != Comparison::equal &&
        node.comparison != Comparison::not_equal)
      refuse_at(place, "texts have no order here; use =, != or in");
    return std::make_shared<const Node>(std::move(node));
  }

  void constant(Node& node) {
    const bool is_text = token_.kind == Token::Kind::text;
    if (!is_text && token_.kind != Token::Kind::number) {
      expected(token_.kind == Token::Kind::name || token_.kind == Token::Kind::quoted_name
                   ? "a constant: a number, or a text between single quotes"
                   : "a constant");
    }
    const auto known = uses_[node.column];
    if (known != Use::none && known != (is_text ? Use::text : Use::number)) {
      refuse_at(token_.place, "column " + quoted_text(where_.columns_[node.column]) +
                                  " is compared with both texts and numbers; use one of them");
    }
    uses_[node.column] = is_text ? Use::text : Use::number;
    where_.is_text_[node.column] = is_text;
    if (is_text) {
      node.texts.push_back(token_.value);
    } else {
      try {
        node.numbers.push_back(parse_rational(token_.value, "where"));
      } catch (const Error&) {
        refuse_at(token_.place, quoted_text(token_.value) + " is no number of at most 100 digits");
      }
    }
    advance();
  }

  std::size_t column(const std::string& name) {
    const auto found = std::find(where_.columns_.begin(), where_.columns_.end(), name);
    if (found != where_.columns_.end()) return static_cast<std::size_t>(found - where_.columns_.begin());
    if (where_.columns_.size() == Chunk::max_columns) {
      refuse_at(token_.place,
                "a condition looks at " + std::to_string(Chunk::max_columns) + " columns at the most");
    }
    where_.columns_.push_back(name);
    where_.is_text_.push_back(false);
    uses_.push_back(Use::none);
    return where_.columns_.size() - 1;
  }

  enum class Use { none, number, text };
  Where where_;
  std::vector<Use> uses_;
  Lexer lexer_;
  Token token_;
  std::size_t depth_ = 0;
};

Where Where::parse(std::string_view text) {
  if (text.size() > max_bytes)
    refuse("it is longer than " + std::to_string(max_bytes) + " bytes; write a shorter condition");
  return WhereParser(text).parse();
}

namespace {

Predicate predicate_of(const Node& node, const std::vector<AtomType>& types) {
  switch (node.kind) {
    case Node::Kind::compare:
      return node.texts.empty()
                 ? Predicate::compare(node.column, types[node.column], node.comparison, node.numbers.front())
                 : Predicate::compare(node.column, node.comparison, node.texts.front());
    case Node::Kind::one_of:
      return node.texts.empty() ? Predicate::one_of(node.column, types[node.column], node.numbers)
                                : Predicate::one_of(node.column, node.texts);
    case Node::Kind::negated:
      return !predicate_of(*node.parts.front(), types);
    case Node::Kind::all:
    case Node::Kind::any:
      break;
  }
  Predicate result = predicate_of(*node.parts.front(), types);
  for (std::size_t i = 1; i < node.parts.size(); ++i) {
    const Predicate next = predicate_of(*node.parts[i], types);
    result = node.kind == Node::Kind::all ? result && next : result || next;
  }
  return result;
}

}  // namespace

RowSelection::Condition Where::bind(const std::map<std::string, AtomType>& declared) const {
  std::vector<AtomType> types;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto found = declared.find(columns_[i]);
    const AtomType type = found != declared.end() ? found->second
                          : is_text_[i]           ? AtomType::text
                                                  : AtomType::real;
    if ((type == AtomType::text) != is_text_[i]) {
      refuse("column " + quoted_text(columns_[i]) +
             (is_text_[i] ? " is declared as a number, but is compared with a text; leave the quotes away"
                          : " is declared as text, but is compared with a number; put the constant in "
                            "single quotes"));
    }
    types.push_back(type);
  }
  return {columns_, types, predicate_of(*root_, types)};
}

}  // namespace snapdp
