#pragma once
// Which curve a chart shows: a list that is searched by typing. Enter or a click takes one, Esc none.
#include <QString>
#include <vector>

#include "widgets/controls/popover.h"

class QListWidget;

namespace loom {

class SearchField;

class SeriesCard : public Popover {
  Q_OBJECT

 public:
  struct Offer {
    QString key, title;
  };
  SeriesCard(const std::vector<Offer>& offers, QWidget* window);

 Q_SIGNALS:
  void chosen(const QString& key);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void filter(const QString& words);
  void take();
  SearchField* m_search;
  QListWidget* m_list;
};

}  // namespace loom
