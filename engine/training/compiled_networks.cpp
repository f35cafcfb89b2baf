#include "engine/training/compiled_networks.h"

#include "engine/base/error.h"
#include "engine/network/analysis.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "engine/training/feed.h"
#include "engine/training/fitting_batch.h"

namespace loom {

Program CompiledNetworks::program(const CompileRequest& request) const {
  try {
    const bool training = request.phase != Phase::evaluation;
    Program program = lower(*request.network, {.batch = request.batch, .seed = m_seed, .training = training});
    if (request.feed != nullptr && m_backend.preparesImages()) request.feed->takeBytes(*request.network, program);
    if (request.phase == Phase::statistics) setBatchStatistics(program, BatchStatistics::lastBatch);
    if (request.phase != Phase::training) return program;
    ProgramBuilder builder(std::move(program));
    differentiate(builder, request.wanted);
    Program differentiated = builder.take();
    setBatchStatistics(differentiated, m_statistics);
    if (request.averagesStates) averageStates(differentiated);
    if (request.buckets) exchangeGradients(differentiated, *request.buckets);
    return differentiated;
  } catch (Error& error) {
    error.addContext("in network '" + request.network->name + "'");
    throw;
  }
}

CompileOptions CompiledNetworks::optionsOf(const CompileRequest& request) const {
  CompileOptions options = m_options;
  options.collectives = request.collectives;
  return options;
}

void CompiledNetworks::refuse(const CompileRequest& request, const OutOfMemory& error) const {
  const auto mebibytes = [](std::size_t bytes) {
    return fmt::format("{:.2f} MiB", static_cast<double>(bytes) / (1 << 20));
  };
  // A run's executables share their activations, but each keeps its inputs: of a whole batch and of the last one, of
  // training and of validation.
  constexpr std::size_t kExecutables = 4;
  const std::int64_t fits = fittingBatch(request.batch, static_cast<double>(error.free), [&](std::int64_t batch) {
    CompileRequest smaller = request;
    smaller.batch = batch;
    const BufferPlan::Extent bytes = m_backend.measure(program(smaller), optionsOf(request));
    return static_cast<double>(bytes.shared + kExecutables * bytes.lasting);
  });
  const std::string refusal = fmt::format("{} samples at once take {} of memory beside the weights, but {} are free",
                                          request.batch, mebibytes(error.asked), mebibytes(error.free));
  if (fits == 0)
    throwError(ErrorCode::device, "{}, and not even one would fit: another device, or a smaller network is wanted ({})",
               refusal, error.message());
  const std::int64_t passes = request.passes * ((request.batch + fits - 1) / fits);
  const std::string remedy =
      request.phase == Phase::training
          ? fmt::format(
                "set \"accumulate\" to {}, which computes a step's batch in so many passes, or take a smaller one",
                passes)
          : "take a smaller batch";
  throwError(ErrorCode::device, "{}. {} would fit: {} ({})", refusal, fits, remedy, error.message());
}

Executable& CompiledNetworks::get(const CompileRequest& request) {
  const Key key{request.network, request.phase, request.batch, request.update};
  if (const auto found = m_made.find(key); found != m_made.end()) return *found->second;
  Program made = program(request);
  m_store.ensure(made.parameters);
  try {
    try {
      return *m_made.emplace(key, m_backend.compile(std::move(made), m_store, optionsOf(request))).first->second;
    } catch (const OutOfMemory& error) {
      refuse(request, error);
    }
  } catch (Error& error) {
    error.addContext("in network '" + request.network->name + "'");
    throw;
  }
}

}  // namespace loom
