#pragma once
// Where was I? Recent projects and the samples; the page when no project is open.
#include "app/page.h"

class QVBoxLayout;

namespace loom {

class StartPage : public Page {
  Q_OBJECT

 public:
  explicit StartPage(AppContext& context, QWidget* parent = nullptr);
  void activated() override;
  QList<QWidget*> areas() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void rebuild();
  void removeRecent(const QString& path);

  QWidget *m_recents, *m_samples;
  QVBoxLayout *m_recentRows, *m_sampleRows;
  QWidget* m_content;
};

}  // namespace loom
