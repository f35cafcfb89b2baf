#pragma once
#include <span>
#include <utility>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/data/prepare.h"

namespace loom {

// A variable's samples as the steps before leave them, where those compute pixels anew.
class PreparedSamples : public Dataset {
 public:
  PreparedSamples(const Dataset& dataset, std::size_t variable, Preparation preparation)
      : m_dataset(dataset), m_variable(variable), m_preparation(std::move(preparation)) {
    Variable made = dataset.schema().variables[variable];
    made.shape = m_preparation.shape();
    made.smallest = {};
    made.type = DataType::f32;
    m_schema.variables = {std::move(made)};
    m_values.resize(static_cast<std::size_t>(m_preparation.shape().elements()));
  }
  const Schema& schema() const override { return m_schema; }
  std::int64_t size() const override { return m_dataset.size(); }
  std::span<const std::byte> read(std::int64_t row, std::size_t, Shape* shape) const override {
    Shape stored;
    const auto raw = m_dataset.read(row, m_variable, &stored);
    m_preparation.apply(raw, stored, row, 0, m_values);
    if (shape) *shape = m_preparation.shape();
    return std::as_bytes(std::span(m_values));
  }

 private:
  const Dataset& m_dataset;
  std::size_t m_variable;
  Preparation m_preparation;
  Schema m_schema;
  mutable std::vector<float> m_values;  // of the row that was read last: one thread reads
};

}  // namespace loom
