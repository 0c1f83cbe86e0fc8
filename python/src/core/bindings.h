// The bindings, by theme: each function adds its part to the module _core. Everything below the typed Python side
// (snapdp/*.py) crosses here, in the simplest types: exact numbers as the texts that parse_rational() reads.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdio>  // nanobind takes stderr for granted

namespace snapdp::python {

namespace nb = nanobind;

// What is told of a thing, by name; the typed side makes records of it.
using Facts = nb::typed<nb::dict, nb::str, nb::any>;

void bind_errors(nb::module_& module);
void bind_mechanism(nb::module_& module);
void bind_utility(nb::module_& module);
void bind_accounting(nb::module_& module);
void bind_plan(nb::module_& module);
void bind_ledger(nb::module_& module);
void bind_release(nb::module_& module);
void bind_chain(nb::module_& module);

}  // namespace snapdp::python
