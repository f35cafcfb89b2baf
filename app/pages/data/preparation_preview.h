#pragma once
// One sample before preparation and after it, eight times as training would meet it: random steps differ from epoch to epoch.
#include <QImage>
#include <QWidget>

#include <memory>
#include <vector>

#include "engine/data/loader.h"

namespace loom {

class PreparationPreview : public QWidget {
  Q_OBJECT

 public:
  explicit PreparationPreview(QWidget* parent = nullptr);
  void setSample(std::shared_ptr<const Dataset> dataset, int row);
  void setSteps(std::vector<Json> steps);  // with the numbers of each Normalise
  void setMeasuring();                     // they are not known yet
  const std::vector<QImage>& after() const { return m_after; }
  const QImage& before() const { return m_before; }
  // Why the steps cannot be applied, empty where they can.
  const QString& fault() const { return m_fault; }

  QSize sizeHint() const override { return {480, 96}; }
  QSize minimumSizeHint() const override { return {200, 84}; }

 Q_SIGNALS:
  void faultChanged(const QString& fault);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void refresh();

  std::shared_ptr<const Dataset> m_dataset;
  int m_row = 0;
  std::vector<Json> m_steps;
  QImage m_before;
  QString m_beforeText;
  std::vector<QImage> m_after;
  std::vector<QString> m_afterTexts;
  QString m_fault;
  bool m_measuring = false;
};

}  // namespace loom
