// Streams as such: read once or anew, that fail, that say what cannot be; and that everything is released whatever comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <limits>
#include <set>
#include <stdexcept>

#include "arrow_producer.h"
#include "snapdp/engines/arrow/arrow_source.h"
#include "snapdp/statistics/statistics.h"
#include "source_rows.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
constexpr AtomType real = AtomType::real;
constexpr AtomType integer = AtomType::integer;
constexpr AtomType text = AtomType::text;

constexpr ArrowInt one = 1;

std::vector<ArrowTestColumn> people() {
  return {{"age", "g", {31.0, {}, 27.0, 45.5}},
          {"visits", "l", {one, one * 2, {}, one * 4}},
          {"city", "u", {"ulm", "bonn", "a town with a long name", {}}},
          {"code", "vu", {"ulm", "bonn", "a town with a long name", {}}},
          {"group", "u", {"ulm", "bonn", "ulm", {}}, "c"},
          {"member", "b", {one, one, ArrowInt{0}, {}}},
          {"paid", "d:9,2", {one * 150, {}, one * 75, one}}};
}

// Reads everything as everything.
void read_all(Source& source) {
  for (const SourceColumn& column : source.columns()) ASSERT_EQ(column.unusable, "");
  std::deque<RowRecorder> recorders;
  std::vector<FoldRequest> requests;
  for (const SourceColumn& column : source.columns()) {
    for (const AtomType type : {real, integer, text}) {
      recorders.emplace_back(std::vector<AtomType>{type});
      requests.push_back({{column.name}, recorders.back().aggregation()});
    }
  }
  source.fold(requests, {});
}

Error error_of_reading(ArrowProducer& producer, unsigned threads = 1) {
  const Error error = error_of([&] {
    ArrowArrayStream stream = producer.open();
    ArrowSource source(&stream, {.threads = threads});
    read_all(source);
  });
  EXPECT_EQ(producer.counts().live(), 0) << error.what();
  return error;
}

TEST(ArrowStream, TellsItsColumns) {
  std::vector<ArrowTestColumn> columns = people();
  columns.push_back({"none", "n", std::vector<ArrowCell>(4)});
  columns.push_back({"", "f", std::vector<ArrowCell>(4)});
  ArrowProducer producer(columns);
  ArrowArrayStream stream = producer.open();
  ArrowSource source(&stream);
  std::vector<std::optional<AtomType>> types;
  for (const SourceColumn& column : source.columns()) types.push_back(column.type);
  EXPECT_THAT(types, ElementsAre(real, integer, std::nullopt, std::nullopt, std::nullopt, integer, real,
                                 std::nullopt, real));
}

TEST(ArrowStream, TellsWhatCannotBeUsedAndWhatToCastItTo) {
  const std::vector<std::pair<std::string, std::string>> formats{
      {"tdD", "a date (cast it to utf8"},
      {"tdm", "a date (cast it to utf8"},
      {"tts", "a time of day (cast it to"},
      {"ttu", "a time of day (cast it to"},
      {"tsu:Europe/Berlin", "a timestamp (cast it to utf8, or to int64"},
      {"tDn", "a duration (cast it to int64"},
      {"tiM", "an interval of time (cast it to"},
      {"z", "binary data, not marked as text (cast it to utf8"},
      {"Z", "binary data"},
      {"vz", "binary data"},
      {"w:16", "binary data of fixed width"},
      {"+l", "a list (take an element"},
      {"+L", "a list"},
      {"+vl", "a list"},
      {"+w:3", "a list"},
      {"+s", "a nested structure (take one of its fields"},
      {"+m", "a nested structure"},
      {"+ud:0,1", "a nested structure"},
      {"+r", "run-end encoded (cast it to"},
      {"d:40,2", "a decimal of more than 38 digits"},
      {"d:30,2,256", "a decimal of more than 38 digits or 128 bits (cast it to"},
      {"d:5,-2", "a decimal whose scale is negative"},
      {"d:5,6", "a decimal whose scale is negative or beyond"},
      {"?!", "of a type that SnapDP does not know"}};
  for (const auto& [format, why] : formats) {
    SCOPED_TRACE(format);
    ArrowProducer producer({{"x", format, {one}}, {"y", "l", {one}}});
    ArrowArrayStream stream = producer.open();
    ArrowSource source(&stream);
    EXPECT_THAT(source.columns().at(0).unusable, HasSubstr(why));
    const Error error = error_of([&] { read_rows(source, {"x"}, {integer}); });
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("column \"x\" cannot be used: it is " + why)));
    // The others can.
    EXPECT_THAT(read_rows(source, {"y"}, {integer}), ElementsAre("1"));
  }
}

TEST(ArrowStream, IsReadOnce) {
  ArrowProducer producer(people());
  ArrowArrayStream stream = producer.open();
  ArrowSource source(&stream);
  // What is refused before reading leaves it as it is.
  EXPECT_THAT(error_of([&] { read_rows(source, {"Age"}, {real}); }).what(),
              HasSubstr("is not in the header"));
  EXPECT_EQ(read_rows(source, {"age"}, {integer}).size(), 4U);
  EXPECT_EQ(producer.counts().live(), 0);
  const Error error = error_of([&] { read_rows(source, {"age"}, {real}); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.parameter(), "stream");
  EXPECT_THAT(error.what(), AllOf(HasSubstr("read once"), HasSubstr("function that opens")));
  EXPECT_EQ(source.columns().size(), 7U);
}

TEST(ArrowStream, IsOpenedAnewByAFunction) {
  ArrowProducer producer(people());
  int opened = 0;
  {
    ArrowSource source([&](ArrowArrayStream* out) {
      ++opened;
      *out = producer.open();
    });
    EXPECT_EQ(opened, 0);
    EXPECT_EQ(source.columns().size(), 7U);
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(read_rows(source, {"visits"}, {integer}), ElementsAre("1", "2", "4", "null"));
      EXPECT_EQ(opened, i + 1);
    }
    producer.spoil_schema = [](ArrowSchema& schema) { schema.children[0]->name = "other"; };
    const Error error = error_of([&] { read_rows(source, {"visits"}, {integer}); });
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_THAT(error.what(), HasSubstr("other columns than when it was opened before"));
  }
  EXPECT_EQ(producer.counts().live(), 0);
  EXPECT_EQ(error_of([] { ArrowSource source(ArrowStreamOpener{}); }).parameter(), "stream");
  ArrowSource none([](ArrowArrayStream*) {});
  EXPECT_EQ(error_of([&] { none.columns(); }).parameter(), "stream");
}

TEST(ArrowStream, MayBeOneColumn) {
  ArrowProducer producer({{"x", "l", {one, {}, one * 3}}});
  producer.single = true;
  producer.ends = {2, 3};
  ArrowArrayStream stream = producer.open();
  ArrowSource source(&stream);
  EXPECT_THAT(read_rows(source, {"x"}, {integer}), ElementsAre("1", "3", "null"));
}

TEST(ArrowStream, MayBeEmptyParallel) {
  for (const std::vector<std::size_t>& ends : {std::vector<std::size_t>{0}, std::vector<std::size_t>{0, 0}}) {
    std::vector<ArrowTestColumn> columns = people();
    for (ArrowTestColumn& column : columns) column.cells.clear();
    ArrowProducer producer(columns);
    producer.ends = ends;
    ArrowArrayStream stream = producer.open();
    ArrowSource source(&stream, {.threads = 2});
    const Aggregation count = make_count(untrusted_domain({}), symmetric_distance());
    const FoldRequest request{{}, &count};
    const FoldResult result =
        source.fold({std::nullopt, RowSelection::UnitLimit{"city", 1}}, {&request, 1}, {});
    EXPECT_EQ(result.rows, 0U);
    EXPECT_EQ(count.finish(result.states.at(0)).at(0), Dyadic(0));
  }
}

// Whole rows that are null have null cells, whatever lies behind them.
TEST(ArrowStream, MayHaveWholeRowsThatAreNull) {
  ArrowProducer producer(people());
  std::uint8_t bits[4] = {};
  const void* buffers[1] = {bits};
  std::set<std::int64_t> offsets;
  producer.spoil_array = [&](ArrowArray& array) {
    const std::uint32_t valid = ~(0b1010U << array.offset);  // not rows 1 and 3
    std::memcpy(bits, &valid, sizeof bits);
    array.buffers = buffers;
    array.null_count = 2;
    offsets.insert(array.offset);
  };
  for (const std::string column : {"visits", "city", "group", "member", "paid"}) {
    ArrowArrayStream stream = producer.open();
    ArrowSource source(&stream);
    const std::vector<std::string> rows = read_rows(source, {column}, {text});
    EXPECT_EQ(std::count(rows.begin(), rows.end(), "null"), column == "visits" ? 3 : 2) << column;
  }
  EXPECT_GT(offsets.size(), 1U);
}

TEST(ArrowStream, IsRefusedWhenThereIsNone) {
  EXPECT_EQ(error_of([] { ArrowSource source(static_cast<ArrowArrayStream*>(nullptr)); }).parameter(),
            "stream");
  ArrowArrayStream released{};
  EXPECT_EQ(error_of([&] { ArrowSource source(&released); }).code(), ErrorCode::invalid_argument);
  ArrowProducer producer(people());
  ArrowArrayStream stream = producer.open();
  EXPECT_EQ(error_of([&] { ArrowSource source(&stream, {.threads = 5000}); }).parameter(), "threads");
  EXPECT_NE(stream.release, nullptr);  // still the caller's
  stream.release(&stream);
}

TEST(ArrowStream, FailuresAreToldWithoutItsWordsParallel) {
  for (const unsigned threads : {1U, 3U}) {
    ArrowProducer producer(people());
    producer.ends = {1, 2, 4};
    for (const int fails_at : {0, 1, 2, 3}) {
      producer.fails_at = fails_at;
      const Error error = error_of_reading(producer, threads);
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("failed"), Not(HasSubstr("secret"))));
    }
  }
}

// What a callback leaves behind when it fails is not released: it may be anything.
TEST(ArrowStream, WhatFailedIsNotReleased) {
  for (const bool schema_fails : {true, false}) {
    ArrowProducer producer(people());
    ArrowArrayStream stream = producer.open();
    if (schema_fails) {
      stream.get_schema = [](ArrowArrayStream*, ArrowSchema* out) {
        out->release = [](ArrowSchema*) { ADD_FAILURE() << "released"; };
        return 1;
      };
    } else {
      stream.get_next = [](ArrowArrayStream*, ArrowArray* out) {
        out->release = [](ArrowArray*) { ADD_FAILURE() << "released"; };
        return 1;
      };
    }
    {
      ArrowSource source(&stream);
      EXPECT_EQ(error_of([&] { read_rows(source, {"age"}, {real}); }).code(), ErrorCode::io);
    }
    EXPECT_EQ(producer.counts().live(), 0);
  }
}

TEST(ArrowStream, EverythingIsReleasedWhenAnybodyThrowsParallel) {
  ArrowProducer producer(people());
  producer.ends = {1, 2, 4};
  for (const unsigned threads : {1U, 3U}) {
    ArrowArrayStream stream = producer.open();
    {
      ArrowSource source(&stream, {.threads = threads});
      const Aggregation count = make_count(untrusted_domain({}), symmetric_distance());
      const FoldRequest request{{}, &count};
      EXPECT_THROW(source.fold({&request, 1}, [](double) { throw std::runtime_error("stop"); }),
                   std::runtime_error);
      EXPECT_EQ(producer.counts().live(), 0);
    }
    // Or when nobody reads.
    stream = producer.open();
    { ArrowSource source(&stream); }
    stream = producer.open();
    {
      ArrowSource source(&stream);
      source.columns();
    }
    EXPECT_EQ(producer.counts().live(), 0);
    EXPECT_FALSE(producer.counts().foreign());
  }
}

TEST(ArrowStream, ProgressNeverGoesBackAndEndsAtAHundred) {
  ArrowProducer producer(people());
  producer.ends = {1, 2, 4};
  ArrowArrayStream stream = producer.open();
  ArrowSource source(&stream);
  std::vector<double> percents;
  source.fold({}, {}, [&](double percent) { percents.push_back(percent); });
  EXPECT_THAT(percents, ElementsAre(0, 0, 0, 100));
}

TEST(ArrowStream, RequestsAreCheckedAsByEverySource) {
  ArrowProducer producer(people());
  ArrowArrayStream stream = producer.open();
  ArrowSource source(&stream);
  const Aggregation bounded =
      make_sum(VectorDomain({{real, false, false, Bounds(0, 1)}}), symmetric_distance());
  const Aggregation count = make_count(untrusted_domain({}), symmetric_distance());
  const auto parameter = [&](const RowSelection& selection, const FoldRequest& request) {
    return error_of([&] { source.fold(selection, {&request, 1}, {}); }).parameter();
  };
  EXPECT_EQ(parameter({}, {{"age"}, &bounded}), "aggregation");
  EXPECT_EQ(parameter({std::nullopt, RowSelection::UnitLimit{"city", 0}}, {{}, &count}), "max_rows_per_unit");
  EXPECT_EQ(parameter({std::nullopt, RowSelection::UnitLimit{"town", 1}}, {{}, &count}), "column");
  EXPECT_EQ(parameter({}, {{}, &count, FoldRequest::GroupLimit{"city", 1, 1}}), "max_groups_per_unit");
  EXPECT_EQ(parameter({RowSelection::Condition{{"age"}, {}, Predicate::one_of(0, real, {1})}, std::nullopt},
                      {{}, &count}),
            "where");
  EXPECT_EQ(source.fold({}, {}, {}).rows, 4U);  // the stream is as it was
}

// ---- Streams that say what cannot be ----------------------------------------------------------------------------------

TEST(ArrowStream, SchemasThatCannotBeAreRefused) {
  struct Spoiled {
    const char* what;
    std::function<void(ArrowSchema&)> spoil;
  };
  const std::vector<Spoiled> all{
      {"no format", [](ArrowSchema& schema) { schema.format = nullptr; }},
      {"a column without format", [](ArrowSchema& schema) { schema.children[1]->format = nullptr; }},
      {"negative columns", [](ArrowSchema& schema) { schema.n_children = -1; }},
      {"too many columns", [](ArrowSchema& schema) { schema.n_children = std::int64_t{1} << 40; }},
      {"no columns", [](ArrowSchema& schema) { schema.children = nullptr; }},
      {"a column is missing", [](ArrowSchema& schema) { schema.children[2] = nullptr; }},
      {"decimal without scale", [](ArrowSchema& schema) { schema.children[6]->format = "d:5"; }},
      {"decimal of words", [](ArrowSchema& schema) { schema.children[6]->format = "d:many,2"; }},
      {"decimal of 7 bits", [](ArrowSchema& schema) { schema.children[6]->format = "d:5,2,7"; }},
      {"decimal of more", [](ArrowSchema& schema) { schema.children[6]->format = "d:5,2,128,1"; }},
      {"decimal of no digits", [](ArrowSchema& schema) { schema.children[6]->format = "d:0,0"; }},
      {"decimal beyond int", [](ArrowSchema& schema) { schema.children[6]->format = "d:99999999999,0"; }},
      {"an index of reals", [](ArrowSchema& schema) { schema.children[4]->format = "g"; }},
      {"an index of decimals", [](ArrowSchema& schema) { schema.children[4]->format = "d:5,0"; }},
      {"a dictionary without format",
       [](ArrowSchema& schema) { schema.children[4]->dictionary->format = nullptr; }},
  };
  for (const Spoiled& each : all) {
    SCOPED_TRACE(each.what);
    ArrowProducer producer(people());
    producer.spoil_schema = each.spoil;
    const Error error = error_of_reading(producer);
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_EQ(error.parameter(), "stream");
  }
}

TEST(ArrowStream, BatchesThatCannotBeAreRefusedParallel) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  struct Spoiled {
    const char* what;
    std::function<void(ArrowArray&)> spoil;
  };
  const std::vector<Spoiled> all{
      {"negative length", [](ArrowArray& array) { array.length = -1; }},
      {"negative offset", [](ArrowArray& array) { array.offset = -1; }},
      {"offset beyond 64 bits", [](ArrowArray& array) { array.offset = huge; }},
      {"longer than its columns", [](ArrowArray& array) { array.length += 1000; }},
      {"length beyond 64 bits", [](ArrowArray& array) { array.length = huge; }},
      {"fewer columns", [](ArrowArray& array) { array.n_children -= 1; }},
      {"no columns", [](ArrowArray& array) { array.children = nullptr; }},
      {"a column is missing", [](ArrowArray& array) { array.children[0] = nullptr; }},
      {"whole rows without bitmap", [](ArrowArray& array) { array.null_count = 2; }},
      {"whole rows without buffers",
       [](ArrowArray& array) { array.buffers = nullptr, array.null_count = -1; }},
      {"shorter column", [](ArrowArray& array) { array.children[1]->length = 1; }},
      {"negative column", [](ArrowArray& array) { array.children[1]->length = -1; }},
      {"column before its start", [](ArrowArray& array) { array.children[1]->offset = -4; }},
      {"column beyond 64 bits", [](ArrowArray& array) { array.children[1]->offset = huge; }},
      {"negative nulls", [](ArrowArray& array) { array.children[1]->null_count = -2; }},
      {"fewer buffers", [](ArrowArray& array) { array.children[1]->n_buffers = 1; }},
      {"more buffers", [](ArrowArray& array) { array.children[1]->n_buffers = 3; }},
      {"no buffers", [](ArrowArray& array) { array.children[1]->buffers = nullptr; }},
      {"no values", [](ArrowArray& array) { array.children[1]->buffers[1] = nullptr; }},
      {"nulls without bitmap",
       [](ArrowArray& array) { array.children[1]->buffers[0] = nullptr, array.children[1]->null_count = 1; }},
      {"no offsets", [](ArrowArray& array) { array.children[2]->buffers[1] = nullptr; }},
      {"fewer buffers of texts", [](ArrowArray& array) { array.children[2]->n_buffers = 2; }},
      {"fewer buffers of views", [](ArrowArray& array) { array.children[3]->n_buffers = 2; }},
      {"no sizes of views", [](ArrowArray& array) { array.children[3]->buffers[4] = nullptr; }},
      {"no views", [](ArrowArray& array) { array.children[3]->buffers[1] = nullptr; }},
      {"no dictionary", [](ArrowArray& array) { array.children[4]->dictionary = nullptr; }},
      {"negative dictionary", [](ArrowArray& array) { array.children[4]->dictionary->length = -1; }},
      {"dictionary without offsets",
       [](ArrowArray& array) { array.children[4]->dictionary->buffers[1] = nullptr; }},
      {"last offset is negative",
       [](ArrowArray& array) {
         ArrowArray& column = *array.children[2];
         const_cast<std::int32_t*>(
             static_cast<const std::int32_t*>(column.buffers[1]))[column.offset + column.length] = -1;
       }},
  };
  for (const Spoiled& each : all) {
    SCOPED_TRACE(each.what);
    for (const unsigned threads : {1U, 2U}) {
      ArrowProducer producer(people());
      producer.spoil_array = each.spoil;
      const Error error = error_of_reading(producer, threads);
      EXPECT_EQ(error.code(), ErrorCode::bad_data);
      EXPECT_EQ(error.parameter(), "stream");
      EXPECT_THAT(error.what(),
                  AllOf(Not(HasSubstr("bonn")), Not(HasSubstr(" 4 "))));  // no cell, no row count
    }
  }
}

// Columns that nobody asks for are not looked at.
TEST(ArrowStream, OnlyColumnsThatAreReadAreChecked) {
  ArrowProducer producer(people());
  producer.spoil_array = [](ArrowArray& array) { array.children[0]->buffers[1] = nullptr; };
  ArrowArrayStream stream = producer.open();
  ArrowSource source(&stream);
  EXPECT_THAT(read_rows(source, {"visits"}, {integer}), ElementsAre("1", "2", "4", "null"));
}

template <typename Value>
Value* cells_of(ArrowArray& array, std::size_t buffer) {
  return const_cast<Value*>(static_cast<const Value*>(array.buffers[buffer])) + array.offset;
}

// A cell that leads nowhere is null: which error appears must not hang on a row.
TEST(ArrowStream, CellsThatLeadNowhereAreNull) {
  const auto read = [](const std::string& column, const std::function<void(ArrowArray&)>& spoil) {
    ArrowProducer producer(people());
    producer.seed = 0;
    producer.spoil_array = spoil;
    ArrowArrayStream stream = producer.open();
    ArrowSource source(&stream);
    RowRecorder recorder({text});
    const FoldRequest request{{column}, recorder.aggregation()};
    source.fold({&request, 1}, {});
    return recorder.in_order();
  };
  const std::string long_name = "'a town with a long name'";
  for (const std::int32_t offset : {-1, 1'000'000, std::numeric_limits<std::int32_t>::min()}) {
    EXPECT_THAT(
        read("city", [&](ArrowArray& array) { cells_of<std::int32_t>(*array.children[2], 1)[1] = offset; }),
        ElementsAre("null", "null", long_name, "null"));
  }
  // Offsets that go back: the cell behind them is none.
  EXPECT_THAT(read("city", [](ArrowArray& array) { cells_of<std::int32_t>(*array.children[2], 1)[1] = 8; }),
              ElementsAre(testing::_, "null", long_name, "null"));
  struct View {
    std::int32_t size, prefix, part, offset;
  };
  for (const View view :
       {View{-1, 0, 0, 0}, View{20, 0, -1, 0}, View{20, 0, 2, 0}, View{20, 0, 1, -1}, View{20, 0, 1, 1'000},
        View{1'000'000, 0, 1, 0}, View{20, 0, 0, 0},
        View{std::numeric_limits<std::int32_t>::max(), 0, 1, std::numeric_limits<std::int32_t>::max()}}) {
    EXPECT_THAT(read("code", [&](ArrowArray& array) { cells_of<View>(*array.children[3], 1)[0] = view; }),
                ElementsAre("null", "'bonn'", long_name, "null"));
  }
  EXPECT_THAT(read("code", [&](ArrowArray& array) { array.children[3]->buffers[3] = nullptr; }),
              ElementsAre("'ulm'", "'bonn'", "null", "null"));
  for (const int index : {-1, 3, 127, -128}) {
    EXPECT_THAT(read("group",
                     [&](ArrowArray& array) {
                       cells_of<std::int8_t>(*array.children[4], 1)[0] = static_cast<std::int8_t>(index);
                     }),
                ElementsAre("null", "'bonn'", "'ulm'", "null"));
  }
}

}  // namespace
}  // namespace snapdp
