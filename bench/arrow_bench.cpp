// arrow/...: ten million rows of an Arrow stream in batches of a million: count and mean of float64 without and with nulls,
// of int32, a histogram of texts and of a dictionary of them, and the mean of at most two rows of each of a million units.
// With /1 on one thread, else on two. The rows are the producer's; peak_MiB, less 80 MiB for each column of eight bytes, is
// what the fold takes.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "snapdp/engines/arrow/arrow_source.h"
#include "snapdp/statistics/statistics.h"

namespace {

using namespace snapdp;  // NOLINT: this file is about its names

constexpr std::size_t rows = 10'000'000;
constexpr std::size_t batch_rows = 1'000'000;

const std::array<std::string, 4> towns = {"ulm", "bonn", "a town with a long name", "trier"};

// Columns that are made when they are first asked for, and kept.
const std::vector<double>& reals() {
  static const std::vector<double> values = [] {
    std::vector<double> made(rows);
    for (std::size_t i = 0; i < rows; ++i) made[i] = static_cast<double>(i * 7919 % 1009) / 8 - 10;
    return made;
  }();
  return values;
}

const std::vector<std::uint8_t>& validity() {
  static const std::vector<std::uint8_t> bits(rows / 8, 0xf7);
  return bits;
}

const std::vector<std::int64_t>& units() {
  static const std::vector<std::int64_t> values = [] {
    std::vector<std::int64_t> made(rows);
    for (std::size_t i = 0; i < rows; ++i) made[i] = static_cast<std::int64_t>(i * 7919 % 1'000'000);
    return made;
  }();
  return values;
}

const std::vector<std::int32_t>& integers() {
  static const std::vector<std::int32_t> values = [] {
    std::vector<std::int32_t> made(rows);
    for (std::size_t i = 0; i < rows; ++i) made[i] = static_cast<std::int32_t>(i * 7919 % towns.size());
    return made;
  }();
  return values;
}

struct Texts {
  std::vector<std::int32_t> ends{0};
  std::string bytes;
};

const Texts& texts() {
  static const Texts written = [] {
    Texts made;
    for (const std::int32_t town : integers()) {
      made.bytes += towns[static_cast<std::size_t>(town)];
      made.ends.push_back(static_cast<std::int32_t>(made.bytes.size()));
    }
    return made;
  }();
  return written;
}

const Texts& dictionary() {
  static const Texts written = [] {
    Texts made;
    for (const std::string& town : towns) {
      made.bytes += town;
      made.ends.push_back(static_cast<std::int32_t>(made.bytes.size()));
    }
    return made;
  }();
  return written;
}

// One column of the stream.
struct Buffers {
  const char* format;
  std::array<const void*, 3> buffers;
  std::int64_t count = 2;
  bool in_dictionary = false;
};

// Gives the same rows again and again.
class Producer {
 public:
  explicit Producer(std::vector<Buffers> columns) : columns_(std::move(columns)) {
    const std::size_t count = columns_.size();
    schemas_.resize(count);
    arrays_.resize(count);
    static constexpr std::array names = {"x", "u"};
    for (std::size_t i = 0; i < count; ++i) {
      schemas_[i].format = columns_[i].format;
      schemas_[i].name = names.at(i);
      schemas_[i].release = [](ArrowSchema*) {};
      schemas_[i].dictionary = columns_[i].in_dictionary ? &entry_schema_ : nullptr;
      schema_children_.push_back(&schemas_[i]);
      array_children_.push_back(&arrays_[i]);
    }
    entry_schema_.format = "u";
    entry_schema_.release = [](ArrowSchema*) {};
    entry_buffers_ = {nullptr, dictionary().ends.data(), dictionary().bytes.data()};
    entries_.length = static_cast<std::int64_t>(towns.size());
    entries_.n_buffers = 3;
    entries_.buffers = entry_buffers_.data();
    entries_.release = [](ArrowArray*) {};
  }

  ArrowArrayStream open() {
    next_ = 0;
    ArrowArrayStream stream{};
    stream.private_data = this;
    stream.get_schema = [](ArrowArrayStream* from, ArrowSchema* out) {
      auto* producer = static_cast<Producer*>(from->private_data);
      *out = ArrowSchema{};
      out->format = "+s";
      out->n_children = static_cast<std::int64_t>(producer->schema_children_.size());
      out->children = producer->schema_children_.data();
      out->release = [](ArrowSchema* released) { released->release = nullptr; };
      return 0;
    };
    stream.get_next = [](ArrowArrayStream* from, ArrowArray* out) {
      auto* producer = static_cast<Producer*>(from->private_data);
      *out = ArrowArray{};
      if (producer->next_ < rows) *out = producer->batch();
      return 0;
    };
    stream.release = [](ArrowArrayStream* released) { released->release = nullptr; };
    return stream;
  }

 private:
  // A slice of the whole columns. Batches may be read while the next one is made: only the offset differs.
  ArrowArray batch() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      arrays_[i].length = static_cast<std::int64_t>(rows);
      arrays_[i].null_count = columns_[i].buffers[0] == nullptr ? 0 : -1;
      arrays_[i].n_buffers = columns_[i].count;
      arrays_[i].buffers = columns_[i].buffers.data();
      arrays_[i].dictionary = columns_[i].in_dictionary ? &entries_ : nullptr;
      arrays_[i].release = [](ArrowArray*) {};
    }
    ArrowArray whole{};
    whole.length = static_cast<std::int64_t>(batch_rows);
    whole.offset = static_cast<std::int64_t>(next_);
    whole.n_children = static_cast<std::int64_t>(array_children_.size());
    whole.children = array_children_.data();
    whole.release = [](ArrowArray* released) { released->release = nullptr; };
    next_ += batch_rows;
    return whole;
  }

  std::vector<Buffers> columns_;
  std::vector<ArrowSchema> schemas_;
  std::vector<ArrowArray> arrays_;
  std::vector<ArrowSchema*> schema_children_;
  std::vector<ArrowArray*> array_children_;
  ArrowSchema entry_schema_{};
  ArrowArray entries_{};
  std::array<const void*, 3> entry_buffers_{};
  std::size_t next_ = 0;
};

void fold(benchmark::State& state, std::vector<Buffers> columns, const RowSelection& selection,
          const std::vector<FoldRequest>& requests) {
  Producer producer(std::move(columns));
  for (auto _ : state) {
    ArrowArrayStream stream = producer.open();
    ArrowSource source(&stream, {.threads = static_cast<unsigned>(state.range(0))});
    benchmark::DoNotOptimize(source.fold(selection, requests, {}));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
}

Aggregation clamped_sum() {
  const Transformation complete =
      make_impute(untrusted_domain({AtomType::real}), symmetric_distance(), {Dyadic(50)});
  return complete >> make_clamp(complete.output_domain(), symmetric_distance(), Bounds(0, 100)) >> make_sum();
}

void mean(benchmark::State& state, const Buffers& column, bool limited = false) {
  const Aggregation sum = clamped_sum();
  const Aggregation count = make_count(untrusted_domain({}), symmetric_distance());
  std::vector<Buffers> columns{column};
  RowSelection selection;
  if (limited) {
    columns.push_back({"l", {nullptr, units().data()}});
    selection.unit = {"u", 2};
  }
  fold(state, std::move(columns), selection, {{{"x"}, &sum}, {{}, &count}});
}

void histogram(benchmark::State& state, const Buffers& column) {
  const Aggregation counts = make_histogram(untrusted_domain({AtomType::text}), symmetric_distance(),
                                            Bins::texts({towns.begin(), towns.end()}).with_other());
  fold(state, {column}, {}, {{{"x"}, &counts}});
}

void real(benchmark::State& state) {
  mean(state, {"g", {nullptr, reals().data()}});
}
void real_with_nulls(benchmark::State& state) {
  mean(state, {"g", {validity().data(), reals().data()}});
}
void int32(benchmark::State& state) {
  mean(state, {"i", {nullptr, integers().data()}});
}
void categories(benchmark::State& state) {
  histogram(state, {"i", {nullptr, integers().data()}, 2, true});
}
void words(benchmark::State& state) {
  histogram(state, {"u", {nullptr, texts().ends.data(), texts().bytes.data()}, 3});
}
void limited(benchmark::State& state) {
  mean(state, {"g", {nullptr, reals().data()}}, true);
}

BENCHMARK(real)->Name("arrow/mean/real")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(real_with_nulls)->Name("arrow/mean/real_with_nulls")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(int32)->Name("arrow/mean/int32")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(categories)->Name("arrow/histogram/dictionary")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(words)->Name("arrow/histogram/texts")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(limited)->Name("arrow/mean/limited_units")->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
