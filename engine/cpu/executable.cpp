#include "engine/cpu/executable.h"

#include <omp.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/cpu/kernels/isa.h"
#include "engine/cpu/stage_costs.h"
#include "engine/passes/passes.h"
#include "engine/passes/recomputation.h"
#include "engine/program/absent_store.h"
#include "engine/program/trace.h"

namespace loom::cpu {
namespace {

double threadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// oneDNN plans its primitives for the number of threads that OpenMP would use where they are made.
class OneOpenMpThread {
 public:
  OneOpenMpThread() : m_before(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneOpenMpThread() { omp_set_num_threads(m_before); }

 private:
  int m_before;
};

// As it is laid out, with no weight allocated.
StepCost costOf(const Program& program, int threads, const CompileOptions& options, const CpuWays& ways) {
  const auto store = absentStoreOf(program);
  Plan plan(program, *store, threads, options, ways);
  plan.lowerAll();
  return {.stages = costsOf({program, plan.fusion(), plan.stages(), plan.packs(), plan.bf16()}),
          .memory = plan.measure()};
}

Recomputation prepare(Program& program, int threads, const CompileOptions& options, const CpuWays& ways) {
  simplify(program);
  // Without AVX-512 oneDNN has no convolution in bf16 worth its rounding.
  if (options.precision == DataType::bf16 && isa() == Isa::avx512)
    keepInSixteenBits(program, DataType::bf16, [&program](const Operation& one) { return inBf16(program, one); });
  if (options.memoryBudget == 0) return {};
  const Recomputation told = recomputeWithin(
      program, {.budget = options.memoryBudget,
                .joinsOf = [&program](const Operation& one) { return joinsOf(program, one); },
                .arenaOf = [&](const Program& one) { return costOf(one, threads, options, ways).memory.shared; }});
  if (options.recomputation != nullptr) *options.recomputation = told;
  return told;
}

}  // namespace

void Worker::fail() const {
  if (step->failing.exchange(true, std::memory_order_acq_rel)) return;
  step->report = [fault = std::current_exception()] { std::rethrow_exception(fault); };
  step->failed.store(true, std::memory_order_release);
}

CpuExecutable::CpuExecutable(Program program, ParameterStore& store, std::shared_ptr<ThreadPool> pool,
                             std::shared_ptr<Arena>& arena, const CompileOptions& options, const CpuWays& ways)
    : m_program(std::move(program)),
      m_pool(std::move(pool)),
      m_profiling(options.profile || std::getenv("GRADLOOM_PROFILE") != nullptr),
      m_trace(options.trace) {
  const OneOpenMpThread scope;
  m_recomputation = prepare(m_program, m_pool->size(), options, ways);
  store.ensure(m_program.parameters);
  m_plan = std::make_unique<Plan>(m_program, store, m_pool->size(), options, ways);
  m_plan->lowerAll();
  m_inputs.resize(m_program.tensors.size());
  for (std::size_t i = 0; i < m_program.tensors.size(); ++i) {
    const Tensor& tensor = m_program.tensors[i];
    const auto id = static_cast<TensorId>(i);
    if (tensor.role == TensorRole::input) m_inputs[i] = m_plan->read(id);
    if (tensor.role != TensorRole::scalar) continue;
    scalarOf({}, tensor.name);  // throws for one that there is not
    m_scalars.push_back({m_plan->read(id), tensor.name, tensor.type});
  }
  for (const NamedResult& result : m_program.results) m_results.push_back(m_plan->read(result.tensor));
  m_compiled = m_plan->finish([&](const BufferPlan::Extent& extent) {
    m_lasting = std::make_unique<Arena>(extent.lasting);
    if (!arena || arena->bytes() < extent.shared) arena = std::make_shared<Arena>(extent.shared);
    m_arena = arena;
    return std::pair(m_arena->data(), m_lasting->data());
  });
  m_updated = updatedTensors(store, m_program);
  m_packed.resize(m_compiled.prologue.size());
  m_due.reserve(m_packed.size());
  m_profile.resize(m_compiled.stages.size() + 1);
  m_order.push_back({-1, 0});
  std::vector<int> pieces{1};
  for (std::size_t i = 0; i < m_compiled.stages.size(); ++i) {
    const Stage& stage = m_compiled.stages[i];
    for (int phase = 0; phase < stage.phases; ++phase) m_order.push_back({static_cast<int>(i), phase});
    pieces.insert(pieces.end(), static_cast<std::size_t>(stage.phases), stage.pieces);
  }
  m_turns = std::make_unique<Turns>(m_pool->size(), pieces);
}

StepCost CpuExecutable::cost(Program program, int threads, const CompileOptions& options, const CpuWays& ways) {
  const OneOpenMpThread scope;
  prepare(program, threads, options, ways);
  return costOf(program, threads, options, ways);
}

StepCost CpuExecutable::cost() const {
  return {.stages = costsOf({m_program, m_plan->fusion(), m_compiled.stages, m_compiled.prologue, m_plan->bf16(),
                             m_profiling ? std::span<const double>(m_profile) : std::span<const double>()}),
          .memory = m_compiled.bytes};
}

std::span<std::byte> CpuExecutable::input(std::string_view name) {
  const TensorId id = m_program.findTensor(name, TensorRole::input);
  if (id == kNoTensor) throwError(ErrorCode::internal, "the program has no input '{}'", name);
  const Tensor& tensor = m_program.tensor(id);
  return {reinterpret_cast<std::byte*>(m_inputs[static_cast<std::size_t>(id)].get()),
          static_cast<std::size_t>(tensor.shape.elements()) * bytesOf(tensor.type)};
}

StepNumber CpuExecutable::run(const StepOptions& options) {
  m_step.options = options;
  m_step.failing.store(false, std::memory_order_relaxed);
  m_step.failed.store(false, std::memory_order_relaxed);
  for (const Scalar& scalar : m_scalars) {
    const double value = scalarOf(options, scalar.name);
    if (scalar.type == DataType::f64)
      *scalar.at.as<double>().get() = value;
    else if (scalar.type == DataType::i64)
      *scalar.at.as<std::int64_t>().get() = static_cast<std::int64_t>(value);
    else
      *scalar.at.get() = static_cast<float>(value);
  }
  for (const auto& check : m_compiled.guards) check();
  choosePacks();
  m_nextTask.store(0, std::memory_order_relaxed);
  m_packing.store(0, std::memory_order_relaxed);
  m_spent.store(0, std::memory_order_relaxed);
  m_began = Trace::Clock::now();
  m_turns->begin(m_due.empty() ? 1 : 0, static_cast<int>(m_order.size()));
  const auto began = std::chrono::steady_clock::now();
  m_pool->run([](void* self, int thread) { return static_cast<CpuExecutable*>(self)->workOn(thread); }, this);
  if (m_profiling && !m_due.empty())
    least(m_compiled.stages.size(), m_packing.load(std::memory_order_relaxed) / m_pool->size());
  for (StoredTensor* tensor : m_updated) tensor->changed();
  if (!m_step.failed.load(std::memory_order_acquire)) {
    tookSince(began);
    return ++m_newest;
  }
  std::fill(m_packed.begin(), m_packed.end(), 0);  // it may have failed while it packed
  m_step.report();
  throwError(ErrorCode::internal, "a step failed and does not say how");
}

// The first steps find memory that nobody has touched yet.
void CpuExecutable::tookSince(std::chrono::steady_clock::time_point began) {
  constexpr StepNumber kFirstSteps = 3;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (m_newest < kFirstSteps) return;
  if (m_earlier == 0) m_earlier = seconds;
  m_pool->adapt(seconds, m_earlier);
}

// Weights that changed since they were brought into the kernels' layouts: none in an evaluation, or in the second shard
// of a step.
void CpuExecutable::choosePacks() {
  m_due.clear();
  for (std::size_t i = 0; i < m_packed.size(); ++i) {
    const std::uint64_t now = m_compiled.prologue[i].weight->version();
    if (std::exchange(m_packed[i], now) != now) m_due.push_back(i);
  }
}

// True when the step is over.
bool CpuExecutable::workOn(int thread) {
  for (;;) {
    const int now = m_turns->now();
    if (m_turns->over(now)) return true;
    const Turn& turn = m_order[static_cast<std::size_t>(now)];
    const bool onCaller = turn.stage >= 0 && m_compiled.stages[static_cast<std::size_t>(turn.stage)].onCaller;
    const Turns::Claim claim = m_turns->claim(now, thread, onCaller);
    if (!claim) return false;
    runPiece(turn, claim, thread);
    const auto ends = [&] {
      if (m_profiling || m_trace != nullptr) measured(turn);
      // A stage that failed says so before its last piece is done.
      return m_step.failed.load(std::memory_order_acquire);
    };
    if (m_turns->done(now, ends)) m_pool->signal();
  }
}

void CpuExecutable::runPiece(const Turn& turn, const Turns::Claim& claim, int thread) {
  const Stage* const stage = turn.stage < 0 ? nullptr : &m_compiled.stages[static_cast<std::size_t>(turn.stage)];
  const int pieces = stage == nullptr ? 1 : stage->pieces;
  const Worker worker{.index = claim.part * pieces + claim.piece,
                      .count = m_pool->size() * pieces,
                      .step = &m_step,
                      .phase = turn.phase,
                      .pieces = pieces,
                      .thread = thread};
  const bool counts = m_profiling && claim.part == 0;
  const double before = counts ? threadSeconds() : 0;
  try {
    stage == nullptr ? pack() : stage->run(worker);
  } catch (...) {
    worker.fail();
  }
  if (counts) m_spent.fetch_add(threadSeconds() - before, std::memory_order_relaxed);
}

// Which thread takes which task is chance: all of them are counted, and divided.
void CpuExecutable::pack() {
  const double before = m_profiling ? threadSeconds() : 0;
  for (std::size_t task; (task = m_nextTask.fetch_add(1, std::memory_order_relaxed)) < m_due.size();)
    m_compiled.prologue[m_due[task]].run();
  if (m_profiling) m_packing.fetch_add(threadSeconds() - before, std::memory_order_relaxed);
}

void CpuExecutable::least(std::size_t at, double seconds) {
  m_profile[at] = m_profile[at] == 0 ? seconds : std::min(m_profile[at], seconds);
}

// A turn is over, and the next one has not begun: what part 0 of its stage has taken, phase by phase, whatever threads
// computed its pieces.
void CpuExecutable::measured(const Turn& turn) {
  if (turn.stage >= 0 && turn.phase + 1 != m_compiled.stages[static_cast<std::size_t>(turn.stage)].phases) return;
  const auto now = Trace::Clock::now();
  if (turn.stage >= 0) {
    const auto at = static_cast<std::size_t>(turn.stage);
    if (m_profiling) least(at, m_spent.load(std::memory_order_relaxed));
    if (m_trace != nullptr && !m_trace->full())
      m_trace->add(Trace::Lane::compute, m_compiled.stages[at].kernel.c_str(), m_compiled.stages[at].origin.c_str(),
                   m_began, now);
  }
  m_spent.store(0, std::memory_order_relaxed);
  m_began = now;
}

const NamedResult& CpuExecutable::result(std::string_view name) const {
  for (const NamedResult& result : m_program.results) {
    if (result.name == name) return result;
  }
  throwError(ErrorCode::internal, "the program has no result '{}'", name);
}

double CpuExecutable::scalarResult(std::string_view name, StepNumber step) const {
  keptStep(step, m_newest, 1);
  const NamedResult& found = result(name);
  if (m_program.tensor(found.tensor).shape.elements() != 1) {
    throwError(ErrorCode::internal, "result '{}' is {}, not a scalar", name,
               m_program.tensor(found.tensor).shape.toString());
  }
  return *m_results[static_cast<std::size_t>(&found - m_program.results.data())].get();
}

void CpuExecutable::readResult(std::string_view name, std::span<float> to, StepNumber step) const {
  copyResult(name, to, step);
}

void CpuExecutable::readResult(std::string_view name, std::span<double> to, StepNumber step) const {
  copyResult(name, to, step);
}

template <class T>
void CpuExecutable::copyResult(std::string_view name, std::span<T> to, StepNumber step) const {
  keptStep(step, m_newest, 1);
  const NamedResult& found = result(name);
  const Tensor& tensor = m_program.tensor(found.tensor);
  const auto elements = static_cast<std::size_t>(tensor.shape.elements());
  if (to.size() != elements)
    throwError(ErrorCode::internal, "result '{}' has {} numbers, but there is room for {}", name, elements, to.size());
  const float* from = m_results[static_cast<std::size_t>(&found - m_program.results.data())].get();
  const auto convert = [](auto value) { return static_cast<T>(value); };
  if (tensor.type == DataType::i32)
    std::transform(reinterpret_cast<const std::int32_t*>(from), reinterpret_cast<const std::int32_t*>(from) + elements,
                   to.begin(), convert);
  else if (tensor.type == DataType::f64)
    std::transform(reinterpret_cast<const double*>(from), reinterpret_cast<const double*>(from) + elements, to.begin(),
                   convert);
  else
    std::transform(from, from + elements, to.begin(), convert);
}

// What its costs are summed under.
std::string CpuExecutable::nameOfOperation(const Stage& stage) const {
  const auto operation = static_cast<std::size_t>(stage.operation);
  return stage.moved > 0 || operation >= m_program.operations.size() ? stage.kernel
                                                                     : m_program.operations[operation].op->name;
}

Json CpuExecutable::describe() const {
  Json all = Json::array();
  for (std::size_t i = 0; i < m_compiled.stages.size(); ++i) {
    const Stage& stage = m_compiled.stages[i];
    Json one = {{"kernel", stage.kernel},
                {"implementation", stage.implementation},
                {"layout", stage.layout},
                {"origin", stage.origin},
                {"op", nameOfOperation(stage)}};
    if (m_profiling) one["least_cpu_seconds"] = m_profile[i];
    all.push_back(std::move(one));
  }
  Json answer = {{"backend", "cpu"},
                 {"isa", toString(isa())},
                 {"precision", m_plan->bf16() ? "bf16" : "f32"},
                 {"threads", m_pool->size()},
                 {"arena_bytes", m_compiled.bytes.shared + m_compiled.bytes.lasting},
                 {"lasting_bytes", m_compiled.bytes.lasting},
                 {"recomputed", m_recomputation.operations},
                 {"reorders", m_compiled.reorders},
                 {"weight_packs", m_compiled.prologue.size()},
                 {"operations", std::move(all)}};
  if (m_profiling) answer["prologue_least_cpu_seconds"] = m_profile.back();
  return answer;
}

}  // namespace loom::cpu
