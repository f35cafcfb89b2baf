#pragma once
// A splitter whose handle is a hairline with a grip of 7 px to take it by; double click puts the parts back to where
// they began.
#include <QSplitter>

namespace loom {

class Splitter : public QSplitter {
  Q_OBJECT

 public:
  explicit Splitter(Qt::Orientation orientation, QWidget* parent = nullptr);
  // What a double click on a handle goes back to.
  void setInitialSizes(const QList<int>& sizes);
  QList<int> initialSizes() const { return m_initial; }

 protected:
  QSplitterHandle* createHandle() override;

 private:
  QList<int> m_initial;
};

}  // namespace loom
