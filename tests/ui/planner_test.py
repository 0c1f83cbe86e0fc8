#!/usr/bin/env python3
"""snapdp ui in a real browser: a custodian's day from a data file to a report, with the mouse and with the keyboard alone.

Usage: planner_test.py TOOL [unittest options]     (TOOL: the path of snapdp)
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    from selenium import webdriver
except ImportError:
    print("skipped: Selenium is not installed (Debian: chromium-driver python3-selenium)")
    sys.exit(77)
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

TOOL = ""
PATIENCE = 60  # seconds; sanitizers on a busy machine are slow

DECLARATION = """[data]
path = "people.csv"
dataset = "people <script>document.title=1</script>"
neighbors = "add-remove"
privacy_unit = "person"
max_rows_per_unit = 1
expected_size = 1000
[columns.age]
type = "integer"
bounds = [0, 100]
description = "in years"
[columns.city]
type = "text"
categories = ["ulm", "bonn", "<b>kiel</b>"]
"""


class PlannerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = Options()
        for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1000",
                       "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.write("people.toml", DECLARATION)
        rows = "".join(f"{i},{20 + i % 60},{('ulm', 'bonn')[i % 2]}\n" for i in range(1000))
        self.write("people.csv", "person,age,city\n" + rows)
        self.tool("ledger", "create", "people.ledger", "people.toml", "--epsilon", "2")
        self.server = subprocess.Popen([TOOL, "ui", self.folder.name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.server.stdout.readline().strip()
        for log in ("browser", "performance"):
            self.browser.get_log(log)
        self.browser.get(self.address)
        self.wait(lambda: "people" in self.text("title"))

    def tearDown(self):
        # Whatever the page's policy refused, or its script threw, is an error of the page. Asked before the server stops:
        # the page goes on asking it.
        errors = [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE" and "422" not in entry["message"]]
        self.browser.get("about:blank")
        self.server.terminate()
        self.assertIn(self.server.wait(timeout=PATIENCE), (0, -signal.SIGTERM))  # no crash
        self.server.stdout.close()
        self.folder.cleanup()
        self.assertEqual(errors, [])

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
            file.write(text)

    def tool(self, *arguments):
        done = subprocess.run([TOOL, *arguments], cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def wait(self, condition):
        # What the page draws anew between finding and reading is looked for again.
        wait = WebDriverWait(self.browser, PATIENCE, poll_frequency=0.02, ignored_exceptions=[NoSuchElementException, StaleElementReferenceException])
        wait.until(lambda _: condition())

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self, identity):
        return self.browser.find_element(By.ID, identity).text

    def add(self, column, kind):
        self.find("#add").click()
        Select(self.find("#new-column")).select_by_visible_text(column)
        Select(self.find("#new-kind")).select_by_value(kind)
        self.find("#new-yes").click()
        self.wait(lambda: not self.find("#adding").is_displayed())

    def type_into(self, selector, text):
        # In one go, as a person does: a box that is cleared first loses the focus, and an answer may fill it again before
        # the text comes.
        self.find(selector).send_keys(Keys.CONTROL, "a", Keys.NULL, text, Keys.ENTER)

    def epsilon(self):
        return float(self.text("total"))

    def test_a_day_with_the_mouse(self):
        self.assertIn("whether a person is in the data at all (column person, at most 1 row each)", self.text("hidden"))
        self.add("age", "mean")
        self.add("city", "histogram")
        self.wait(lambda: abs(self.epsilon() - 0.2) < 1e-9)
        # Each of the two numbers moves the other.
        self.type_into(".card:nth-child(1) .accuracy", "1")
        self.wait(lambda: self.find(".card:nth-child(1) .epsilon").get_attribute("value") not in ("0.1", ""))
        wanted = float(self.find(".card:nth-child(1) .epsilon").get_attribute("value"))
        self.assertGreater(wanted, 0.1)
        self.type_into(".card:nth-child(1) .epsilon", "0.4")
        self.wait(lambda: abs(self.epsilon() - 0.5) < 1e-9)
        self.assertEqual(self.text("sure"), "62.25 %")  # e^.5 / (1 + e^.5), rounded up
        # Over the cap nothing can be released.
        self.type_into("#cap", "0.3")
        self.wait(lambda: self.find("#go").get_attribute("aria-disabled") == "true")
        self.assertIn("press Fit", self.text("warnings"))
        self.find("#fit").click()
        self.wait(lambda: self.find("#go").get_attribute("aria-disabled") == "false")
        self.assertLessEqual(self.epsilon(), 0.3)
        self.assertGreater(self.epsilon(), 0.299)
        # What can be taken along is what the tool takes.
        self.write("question.toml", self.text("out"))
        self.tool("plan", "question.toml", "--ledger", "people.ledger")
        # Releasing asks for the ledger's name.
        self.find("#go").click()
        self.assertFalse(self.find("#yes").is_enabled())
        self.find("#typed").send_keys("people.ledge")
        self.assertFalse(self.find("#yes").is_enabled())
        self.find("#typed").send_keys("r")
        self.find("#label").send_keys("2026-Q4")
        self.find("#yes").click()
        self.wait(lambda: "Release 1 is in the ledger." in self.text("done-words"))
        links = {link.text: link.get_attribute("href") for link in self.browser.find_elements(By.CSS_SELECTOR, "#done-links a")}
        self.find("#done-close").click()
        self.wait(lambda: "1 release" in self.text("ledger"))
        self.browser.get(links["Open the report"])
        self.assertIn("bonn", self.find("body").text)
        self.assertNotEqual(self.browser.title, "1")
        self.assertIn("2026-Q4", self.tool("ledger", "show", "people.ledger"))

    def test_a_day_with_the_keyboard_alone(self):
        def keys(*strokes):
            self.browser.switch_to.active_element.send_keys(*strokes)

        self.find("body").send_keys("a")
        self.wait(lambda: self.find("#adding").is_displayed())
        keys(Keys.TAB, Keys.TAB, Keys.TAB)  # column, kind, name (age has bounds; edges are not asked for a mean)
        for _ in range(8):
            if self.browser.switch_to.active_element.get_attribute("id") == "new-yes":
                break
            keys(Keys.TAB)
        keys(Keys.ENTER)
        self.wait(lambda: len(self.browser.find_elements(By.CSS_SELECTOR, ".card")) == 1)
        self.wait(lambda: abs(self.epsilon() - 0.1) < 1e-9)
        # The slider has the focus: arrows and pages move it.
        keys(Keys.PAGE_UP)
        self.wait(lambda: abs(self.epsilon() - 0.2) < 1e-9)
        keys(Keys.PAGE_DOWN)
        self.wait(lambda: abs(self.epsilon() - 0.1) < 1e-9)
        keys(Keys.ARROW_RIGHT)
        self.wait(lambda: 0.1 < self.epsilon() < 0.11)
        self.assertIn("epsilon", self.browser.switch_to.active_element.get_attribute("aria-valuetext"))
        keys("r")
        self.wait(lambda: self.find("#spending").is_displayed())
        keys("people.ledger", Keys.ENTER)
        self.wait(lambda: "Release 1" in self.text("done-words"))

    def test_what_other_choices_would_give(self):
        self.write("question.toml", '[budget]\nepsilon = 1\n[[statistic]]\nname = "m"\nkind = "mean"\ncolumn = "age"\ngrid = "notes"\nepsilon = "0.1"\n')
        self.browser.get(self.address)
        self.wait(lambda: len(Select(self.find("#question")).options) == 2)
        Select(self.find("#question")).select_by_value("question.toml")
        self.wait(lambda: "m: grid = \"auto\" would give" in self.text("savings"))

    def test_what_is_refused_is_said_where_it_stands(self):
        self.add("age", "mean")
        self.type_into(".card .epsilon", "nonsense")
        self.wait(lambda: "a number above 0" in self.find(".card .flag").text)
        self.type_into(".card .accuracy", "1000")
        self.wait(lambda: "is that accurate" in self.find(".card .flag").text)
        self.assertEqual(self.find("#go").get_attribute("aria-disabled"), "true")
        self.type_into(".card .epsilon", "0.1")
        self.wait(lambda: self.find("#go").get_attribute("aria-disabled") == "false")

    def test_a_specification_is_opened(self):
        self.write("question.toml", '[budget]\nepsilon = "0.7"\n[[statistic]]\nname = "n <i>"\nkind = "count"\nepsilon = "0.25"\n'
                   '[[statistic]]\nname = "q"\nkind = "median"\ncolumn = "age"\nedges = [0, 20, 40, 100]\nepsilon = 0.25\n')
        self.browser.get(self.address)
        self.wait(lambda: len(Select(self.find("#question")).options) == 2)
        Select(self.find("#question")).select_by_value("question.toml")
        self.wait(lambda: abs(self.epsilon() - 0.5) < 1e-9)
        self.assertEqual(self.find("#cap").get_attribute("value"), "0.7")
        self.assertEqual([each.text for each in self.browser.find_elements(By.CSS_SELECTOR, ".card h3")], ["n <i>", "q"])

    def test_thirty_statistics_answer_at_once(self):
        statistics = "".join(f'[[statistic]]\nname = "s{i}"\nkind = "{kind}"\ncolumn = "age"\nepsilon = "0.01"\n'
                             for i, kind in zip(range(30), ["mean", "variance", "sum"] * 10))
        self.write("question.toml", '[budget]\nepsilon = "1"\n' + statistics)
        self.browser.get(self.address)
        self.wait(lambda: len(Select(self.find("#question")).options) == 2)
        Select(self.find("#question")).select_by_value("question.toml")
        self.wait(lambda: abs(self.epsilon() - 0.3) < 1e-9)
        started = time.monotonic()
        self.find(".card:nth-child(30) .range").send_keys(Keys.PAGE_UP)
        self.wait(lambda: abs(self.epsilon() - 0.31) < 1e-9)
        print(f"30 statistics: {1000 * (time.monotonic() - started):.0f} ms from the key to the new total, the driver included", file=sys.stderr)

    def test_no_request_leaves_the_page(self):
        self.add("age", "mean")
        origin = re.match(r"http://[^/]+", self.address).group()
        requests = [entry["message"] for entry in self.browser.get_log("performance") if '"Network.requestWillBeSent"' in entry["message"]]
        self.assertTrue(requests)
        for request in requests:
            address = re.search(r'"url":"([^"]*)"', request).group(1)
            self.assertTrue(address.startswith((origin, "data:", "blob:", "about:", "chrome")), address)

    def test_a_page_of_another_site_gets_nothing(self):
        # A page from another origin (a file) knows the port, and even the secret.
        self.write("evil.html", "<!doctype html><title>evil</title>")
        origin = re.match(r"http://[^/]+", self.address).group()
        self.browser.get("file://" + os.path.join(self.folder.name, "evil.html"))
        script = """const done = arguments[arguments.length - 1];
            fetch(arguments[0], {method: arguments[1], body: arguments[1] === 'POST' ? arguments[3] : undefined, headers: arguments[2], mode: arguments[4]})
              .then(response => response.text()).then(text => done('read ' + text), error => done('failed'));"""
        # A whole release: were it let in, it would be paid for, whether or not the page can read the answer.
        body = json.dumps({"file": "people.ledger", "typed": "people.ledger", "price": "0.5",
                           "specification": '[budget]\nepsilon = 1\n[[statistic]]\nname = "n"\nkind = "count"\nepsilon = "1/2"\n'})
        for address in (origin + "/api/release", self.address + "api/release", self.address + "api/folder"):
            for method, headers in (("GET", {}), ("POST", {"Content-Type": "application/json"}), ("POST", {"Content-Type": "text/plain"})):
                self.assertEqual(self.browser.execute_async_script(script, address, method, headers, body, "cors"), "failed", (address, method))
            self.browser.execute_async_script(script, address, "POST", {"Content-Type": "text/plain"}, body, "no-cors")
        self.browser.get_log("browser")  # what the browser says of it is what is wanted
        self.assertIn("epsilon 0\n", self.tool("ledger", "show", "people.ledger"))


if __name__ == "__main__":
    TOOL = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
