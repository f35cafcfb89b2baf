#pragma once
// Before you train: what stands in the way, what is worth a look, and what was found in order, each in words with its
// remedy.
#include <QWidget>
#include <functional>
#include <vector>

class QVBoxLayout;

namespace loom {

struct Advice {
  enum class Kind { error, warning, fine } kind = Kind::fine;
  QString text;
  QString action;  // "Set batch to 64"; empty = none
  std::function<void()> act;
};

class TrainAdvice : public QWidget {
  Q_OBJECT

 public:
  explicit TrainAdvice(QWidget* parent = nullptr);
  void setAdvice(const std::vector<Advice>& advice);

 private:
  QVBoxLayout* m_rows;
};

}  // namespace loom
