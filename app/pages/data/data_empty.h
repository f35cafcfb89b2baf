#pragma once
// What the Data page says while the project has no dataset: drop something here, and how a CSV is written.
#include <QWidget>

namespace loom {

class DataEmpty : public QWidget {
  Q_OBJECT

 public:
  explicit DataEmpty(QWidget* importButton, QWidget* parent = nullptr);
};

}  // namespace loom
