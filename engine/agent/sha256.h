#pragma once
// SHA-256 (FIPS 180-4) by libcrypto, for naming and verifying what travelled: engine bundles and packed data.
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace loom {

class Sha256 {
 public:
  Sha256();  // throws Error(internal) where libcrypto has no SHA-256
  void add(std::string_view bytes);
  // Sixty-four hexadecimal digits; add nothing afterwards.
  std::string finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> m_context;
};

bool isSha256(std::string_view text);

}  // namespace loom
