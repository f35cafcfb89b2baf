#include "engine/cuda/lowerings/product.h"

#include <fmt/core.h>

namespace loom::cuda {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20;      // bytes; what cuBLAS recommends for Hopper
constexpr std::size_t kSmallWorkspace = std::size_t{1} << 20;  // for products that no split would make faster
constexpr double kSmall = 1 << 22;                             // multiply-adds

std::string nameOf(const Product& p, bool tf32) {
  std::string name = fmt::format("{} {}×{}×{}", p.name, p.m, p.n, p.k);
  if (p.batch > 1) name = fmt::format("{} × {}", p.batch, name);
  if (tf32) name += " in tf32";
  if (p.a.type != DataType::f32) name += fmt::format(" in {}", toString(p.a.type));
  if (p.bias) name += " + bias";
  if (p.addend) name += " + sum";
  if (p.relu) name += " + relu";
  return name;
}

}  // namespace

// Row-major matrices are column-major ones transposed, so the product of b and a is asked for, in this order.
void emitProduct(Plan& plan, const Product& p) {
  using Epilogue = MatmulCall::Epilogue;
  MatmulCall call{.m = p.n,
                  .n = p.m,
                  .k = p.k,
                  .transposeA = p.transposeB,
                  .transposeB = p.transposeA,
                  .factors = p.a.type,
                  .result = p.c.type,
                  .tf32 = plan.roundsToTf32(p.a.type),
                  .lda = p.ldb > 0 ? p.ldb : (p.transposeB ? p.k : p.n),
                  .ldb = p.lda > 0 ? p.lda : (p.transposeA ? p.m : p.k),
                  .ldc = p.ldc > 0 ? p.ldc : p.n,
                  .batch = p.batch,
                  .strideA = p.strideB,
                  .strideB = p.strideA,
                  .strideC = p.strideC,
                  .alpha = p.alpha,
                  .beta = p.beta};
  if (p.bias)
    call.epilogue = p.relu ? Epilogue::biasRelu : Epilogue::bias;
  else if (p.relu)
    call.epilogue = Epilogue::relu;
  const double multiplyAdds =
      static_cast<double>(p.batch) * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  // One for all products of a program: they follow each other in one stream.
  const Operand workspace = multiplyAdds < kSmall ? plan.shared("workspace of small products", kSmallWorkspace)
                                                  : plan.shared("workspace of products", kWorkspace);
  std::vector<Operand> reads{p.a, p.b, p.bias};
  if (p.beta != 0) reads.push_back(p.addend ? p.addend : p.c);
  plan.stage({.kernel = nameOf(p, call.tf32),
              .implementation = "cublaslt",
              .reads = std::move(reads),
              .writes = {p.c, workspace.moving(0)},
              .bind = [call, a = p.a, b = p.b, c = p.c, bias = p.bias, addend = p.addend, workspace]() mutable -> Call {
                call.a = b.address();
                call.b = a.address();
                call.c = c.address();
                call.bias = bias.address();
                call.addend = addend.address();
                call.workspace = workspace.address();
                call.workspaceBytes = workspace.bytes;
                return call;
              },
              .multiplyAdds = multiplyAdds,
              .kind = p.kind,
              .factors = p.a.type,
              .tf32 = call.tf32});
}

}  // namespace loom::cuda
