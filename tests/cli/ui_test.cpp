// The door of snapdp ui: what it does not let in. What the page does is tested in a browser (tests/ui).
#include <gmock/gmock.h>
#include <httplib.h>
#include <signal.h>

#include <chrono>
#include <regex>
#include <thread>

#include "cli/tool.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;

class UiTest : public ToolTest {
 protected:
  UiTest() {
    write("people.toml", R"([data]
path = "people.csv"
dataset = "people"
neighbors = "add-remove"
[columns.age]
bounds = [0, 100]
)");
    write("people.csv", "age\n31\n45\n");
    write("secret.txt", "do not read");
    std::filesystem::create_directories(path("inner"));
    std::filesystem::copy_file(path("people.toml"), path("inner/inner.toml"));
    succeed({"ledger", "create", "people.ledger", "people.toml", "--epsilon", "1"});
    server_ = start({"ui", "."}, "address", "said");
    std::smatch parts;
    for (int tries = 0; tries < 600; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      address_ = read_text(path("address"));
      if (std::regex_match(address_, parts, std::regex("http://127\\.0\\.0\\.1:([0-9]+)/([0-9a-f]{32})/\n")))
        break;
    }
    port_ = std::stoi(parts.str(1));
    secret_ = parts.str(2);
  }
  ~UiTest() override {
    ::kill(server_, SIGINT);
    int status = 0;
    ::waitpid(server_, &status, 0);
  }

  std::string origin() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::string at(const std::string& place) const { return "/" + secret_ + "/" + place; }

  // As the browser asks, with other headers in place of its own.
  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) const {
    httplib::Client client("127.0.0.1", port_);
    return client.Get(path.c_str(), headers);
  }
  httplib::Result post(const std::string& place, const std::string& body, httplib::Headers headers,
                       const char* type = "application/json") const {
    httplib::Client client("127.0.0.1", port_);
    return client.Post(at(place).c_str(), headers, body, type);
  }
  httplib::Headers own() const { return {{"Origin", origin()}}; }

  static std::string json_text(const std::string& text) {
    std::string json = "\"";
    for (const char c : text) json += c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string(1, c);
    return json + "\"";
  }
  static std::string question(const std::string& more = "") {
    return "{\"file\": \"people.ledger\", \"specification\": " +
           json_text(
               "[budget]\nepsilon = 1\n[[statistic]]\nname = \"n\"\nkind = \"count\"\nepsilon = 0.5\n") +
           more + "}";
  }

  pid_t server_ = -1;
  std::string address_;
  int port_ = 0;
  std::string secret_;
};

TEST_F(UiTest, ThePageAndItsAnswers) {
  const httplib::Result page = get(at(""));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_THAT(page->body, HasSubstr("<title>SnapDP planner</title>"));
  const std::string policy = page->get_header_value("Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  for (const char* file : {"page.js", "page.css", "api/folder", "api/data?file=people.toml"}) {
    const httplib::Result answer = get(at(file));
    EXPECT_EQ(answer->status, 200) << file;
    EXPECT_EQ(answer->get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer->get_header_value("Cache-Control"), "no-store");
    EXPECT_FALSE(answer->has_header("Access-Control-Allow-Origin"));
  }
  EXPECT_EQ(get(at("nowhere"))->status, 404);
}

TEST_F(UiTest, WithoutTheSecretThereIsNothing) {
  std::string other = secret_;
  other[0] = other[0] == '0' ? '1' : '0';
  for (const std::string& path :
       {std::string("/"), std::string("/api/folder"), "/" + secret_, "/" + other + "/",
        "/" + secret_.substr(1) + "/", "//" + secret_ + "/", "/" + secret_ + "x/"}) {
    const httplib::Result answer = get(path);
    EXPECT_EQ(answer->status, 403) << path;
    EXPECT_THAT(answer->body, Not(HasSubstr(secret_)));
  }
}

// A page of the web whose name was made to lead here (DNS rebinding) has that name in Host.
TEST_F(UiTest, AnotherNameIsNotServed) {
  for (const std::string& host : {std::string("evil.example"), "evil.example:" + std::to_string(port_),
                                  std::string("127.0.0.1"), std::string("127.0.0.1:1"), std::string("")}) {
    EXPECT_EQ(get(at("api/folder"), {{"Host", host}})->status, 403) << host;
  }
  EXPECT_EQ(get(at("api/folder"), {{"Host", "localhost:" + std::to_string(port_)}})->status, 200);
}

TEST_F(UiTest, AnotherSiteIsNotServed) {
  for (const std::string& from : {std::string("http://evil.example"), std::string("null"), origin() + "0",
                                  std::string("https://127.0.0.1:") + std::to_string(port_)}) {
    EXPECT_EQ(get(at("api/folder"), {{"Origin", from}})->status, 403) << from;
    EXPECT_EQ(post("api/plan", question(), {{"Origin", from}})->status, 403) << from;
  }
  for (const char* site : {"cross-site", "same-site"})
    EXPECT_EQ(get(at("api/folder"), {{"Sec-Fetch-Site", site}})->status, 403) << site;
  EXPECT_EQ(post("api/plan", question(), {})->status, 403);  // does not say where it comes from
  EXPECT_EQ(post("api/plan", question(), own(), "text/plain")->status, 403);
  EXPECT_EQ(post("api/plan", question(), own(), "application/x-www-form-urlencoded")->status, 403);
  EXPECT_EQ(post("api/plan", question(), own())->status, 200);
}

TEST_F(UiTest, NoNameLeadsOutOfTheFolder) {
  for (const char* name : {"../people.toml", "inner/inner.toml", "./people.toml", "/etc/passwd", "..", ".",
                           "", "people.toml%00", "inner", "missing.toml"}) {
    for (const char* place : {"api/data?file=", "api/question?file=", "report?release=1&file="}) {
      const httplib::Result answer = get(at(place) + name);
      EXPECT_EQ(answer->status, 422) << place << name;
    }
  }
  // A file of the folder that is neither shows none of its text.
  for (const char* name : {"secret.txt", "people.csv"}) {
    for (const char* place : {"api/data?file=", "api/question?file="}) {
      const httplib::Result answer = get(at(place) + name);
      EXPECT_EQ(answer->status, 422);
      EXPECT_THAT(answer->body, Not(testing::AnyOf(HasSubstr("not read"), HasSubstr("31"))));
    }
  }
  EXPECT_THAT(get(at("api/folder"))->body, Not(HasSubstr("people.csv")));
}

TEST_F(UiTest, ReleasesAskForTheLedgersName) {
  for (const char* typed :
       {"", ", \"typed\": \"\"", ", \"typed\": \"people\"", ", \"typed\": 1",
        ", \"typed\": \"people.ledger\"", ", \"typed\": \"people.ledger\", \"price\": \"1/4\""})
    EXPECT_EQ(post("api/release", question(typed), own())->status, 422) << typed;
  EXPECT_THAT(succeed({"ledger", "show", "people.ledger"}), HasSubstr("epsilon 0\n"));
  const httplib::Result done =
      post("api/release", question(", \"typed\": \"people.ledger\", \"price\": \"0.5\""), own());
  EXPECT_EQ(done->status, 200) << done->body;
  EXPECT_THAT(done->body, HasSubstr("\"release\":1"));
  for (const char* as : {"html", "csv", "markdown", "json"}) {
    const httplib::Result report = get(at("report?file=people.ledger&release=1&as=") + as);
    EXPECT_EQ(report->status, 200) << as;
    EXPECT_FALSE(report->body.empty());
  }
  EXPECT_THAT(get(at("report?file=people.ledger&release=1"))->get_header_value("Content-Security-Policy"),
              HasSubstr("sandbox"));
  for (const char* release : {"0", "2", "-1", "x", "", "99999999999999999999"})
    EXPECT_EQ(get(at("report?file=people.ledger&release=") + release)->status, 422) << release;
}

TEST_F(UiTest, NonsenseIsRefused) {
  for (const char* body : {"", "{", "[]", "{}", "{\"file\": 1}", "{\"file\": \"people.toml\"}",
                           "{\"file\": \"people.toml\", \"specification\": \"[data\"}"}) {
    const httplib::Result answer = post("api/plan", body, own());
    EXPECT_EQ(answer->status, 422) << body;
    EXPECT_THAT(answer->body, HasSubstr("\"message\"")) << body;
  }
  EXPECT_EQ(post("api/plan", std::string(3'000'000, 'x'), own())->status, 413);
  EXPECT_EQ(get(at("api/folder"))->status, 200);  // still there
  httplib::Client client("127.0.0.1", port_);
  EXPECT_NE(client.Options(at("api/plan").c_str())->status, 200);
  EXPECT_NE(client.Delete(at("api/plan").c_str())->status, 200);
}

TEST_F(UiTest, AFolderThatIsNoneAndAPortThatIsTaken) {
  EXPECT_EQ(run({"ui", "nowhere"}).code, 5);
  EXPECT_EQ(run({"ui", "people.toml"}).code, 5);
  EXPECT_EQ(run({"ui", "--port", std::to_string(port_)}).code, 5);
  EXPECT_EQ(run({"ui", "--port", "70000"}).code, 2);
}

}  // namespace
}  // namespace snapdp
