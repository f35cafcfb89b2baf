#include "engine/agent/sha256.h"

#include <openssl/evp.h>

#include "engine/base/error.h"

namespace loom {
namespace {

void need(bool done) {
  if (!done) throwError(ErrorCode::internal, "libcrypto computes no SHA-256 here");
}

// Out of a context of its own, on which no openssl.cnf has a say: that of a host belongs to another release than the
// engine's libcrypto, and may name modules that this one cannot load.
const EVP_MD* algorithm() {
  static const EVP_MD* const sha256 = EVP_MD_fetch(OSSL_LIB_CTX_new(), "SHA256", "provider=default");
  need(sha256 != nullptr);
  return sha256;
}

}  // namespace

Sha256::Sha256() : m_context(EVP_MD_CTX_new()) {
  need(m_context && EVP_DigestInit_ex2(m_context.get(), algorithm(), nullptr) == 1);
}

void Sha256::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

void Sha256::add(std::string_view bytes) {
  need(EVP_DigestUpdate(m_context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::finish() {
  unsigned char sum[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  need(EVP_DigestFinal_ex(m_context.get(), sum, &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", sum[i]);
  return text;
}

bool isSha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace loom
