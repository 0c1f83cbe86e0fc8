// How a release and a fold get at rows: what Python calls back, and the source that it opens.
#pragma once

#include <memory>

#include "core/bindings.h"
#include "snapdp/framework/source.h"
#include "snapdp/release/plan.h"

namespace snapdp::python {

// What Python gives: `open` is called once the ledger has agreed, with how and which columns are read, and returns the
// rows (HeldSource); `progress` is called with a percentage; None for none.
struct Callbacks {
  nb::object open;
  nb::object progress;
};

// Ctrl-C, and whatever `progress` raises, ends a release before anything is paid. After the debit no Python runs until
// the report is kept: Python remembers the signal and obeys it then.
Progress progress_of(const Callbacks& callbacks);

// Takes the interpreter's lock.
std::unique_ptr<Source> open_for(const Plan& plan, const Callbacks& callbacks);

void bind_elsewhere(nb::module_& module);

}  // namespace snapdp::python
