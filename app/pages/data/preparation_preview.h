#pragma once
// One sample before preparation and after it, eight times as training would meet it: random steps differ from epoch to
// epoch. It is read and prepared beside the window's thread; until then what was shown before stays.
#include <QImage>
#include <QWidget>
#include <filesystem>
#include <memory>
#include <vector>

#include "engine/data/loader.h"
#include "widgets/document/newest_task.h"

namespace loom {

struct PreparedSample {
  std::shared_ptr<const Dataset> dataset;  // null: none
  int row = 0;
  // The picture or sound that it is made of, shown as what was before: the dataset may hold it resized or cut already.
  // Empty: what the dataset holds.
  std::filesystem::path file;
};

class PreparationPreview : public QWidget {
  Q_OBJECT

 public:
  explicit PreparationPreview(QWidget* parent = nullptr);
  void setSample(PreparedSample sample);
  void setSteps(std::vector<Json> steps);  // with the numbers of each Normalise
  void setMeasuring();                     // they are not known yet
  const std::vector<QImage>& after() const { return m_shown.after; }
  const QImage& before() const { return m_shown.before; }
  int shownEpochs() const;  // as many as there is room for
  // Why the steps cannot be applied, empty where they can.
  const QString& fault() const { return m_shown.fault; }
  bool busy() const { return m_task->busy(); }

  QSize sizeHint() const override { return {480, 96}; }
  QSize minimumSizeHint() const override { return {200, 54}; }

 Q_SIGNALS:
  void faultChanged(const QString& fault);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int side() const;  // of a picture
  struct Shown {
    QImage before;
    QString beforeText;
    std::vector<QImage> after;
    std::vector<QString> afterTexts;
    QString fault;
  };
  static Shown prepared(const PreparedSample& sample, const std::vector<Json>& steps);
  void refresh();
  void take(Shown shown);

  PreparedSample m_sample;
  std::vector<Json> m_steps;
  Shown m_shown;
  bool m_measuring = false;
  std::unique_ptr<NewestTask> m_task;  // one a dataset: what the last one's disk holds up does not hold up the next
};

}  // namespace loom
