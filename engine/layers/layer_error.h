#pragma once
// A drawing that cannot be, with the value that would make it right: analysis turns it into a button.
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace loom {

class LayerError : public Error {
 public:
  LayerError(std::string message, std::string field, Json remedy = nullptr)
      : Error(ErrorCode::badProject, std::move(message)), m_field(std::move(field)), m_remedy(std::move(remedy)) {}
  const std::string& field() const { return m_field; }
  const Json& remedy() const { return m_remedy; }  // null = there is no plain one

 private:
  std::string m_field;
  Json m_remedy;
};

}  // namespace loom
