#include "snapdp/framework/transformation.h"

#include "framework/chaining.h"
#include "framework/shared/row_language.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace framework_internal;

KeptRows RowFunction::kept(const Chunk&, std::uint8_t*) const {
  return KeptRows::unknown;
}

void RowFunction::tell(framework_internal::RowLanguage& language) const {
  language.unknown(description());
}

Scratch::Buffer& Scratch::buffer(std::size_t column) {
  std::unique_ptr<Buffer>& buffer = buffers_.at(column);
  if (!buffer) buffer = std::make_unique<Buffer>();
  return *buffer;
}

Scratch& Scratch::of_thread() {
  thread_local Scratch scratch;
  return scratch;
}

Transformation::Transformation(Signature<VectorDomain, VectorDomain> signature,
                               std::shared_ptr<const RowFunction> function)
    : signature_(std::move(signature)),
      functions_{std::move(function)},
      steps_{step_of(signature_, functions_.front()->description())} {
  require_signature(signature_);
}

Transformation::Transformation(Signature<VectorDomain, VectorDomain> signature,
                               std::vector<std::shared_ptr<const RowFunction>> functions,
                               std::vector<ChainStep> steps)
    : signature_(std::move(signature)), functions_(std::move(functions)), steps_(std::move(steps)) {}

Transformation Transformation::then(const Transformation& next) const {
  std::vector<std::shared_ptr<const RowFunction>> functions = functions_;
  functions.insert(functions.end(), next.functions_.begin(), next.functions_.end());
  std::vector<ChainStep> steps = steps_;
  steps.insert(steps.end(), next.steps_.begin(), next.steps_.end());
  return Transformation(chain_signatures(signature_, next.signature_), std::move(functions),
                        std::move(steps));
}

}  // namespace snapdp
