#pragma once
// Which columns feed which Input of the networks, with its state: "20 columns → x (20)", "state → y (1, label)".
#include <QStringList>
#include <QWidget>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/shape.h"

namespace loom {

class FlowLayout;

struct FeedLine {
  std::string network, node, variable;
  Shape wanted;             // of the Input
  QString shape;            // the same, "1×28×28", with what else it says
  std::int64_t vector = 0;  // how many numbers a vector has; 0 = it is none
  bool label = false;       // class numbers
  bool target = false;
  std::vector<std::string> columns;  // of the file
  QString fault;                     // empty = it fits
  QString remedy;                    // what a click mends it with; empty = nothing
  std::vector<std::string> offered;  // columns that the click joins into it, or the one that it takes
  std::vector<Json> steps;           // that the click adds; none, and no columns: the Input takes another shape
  bool operator==(const FeedLine&) const = default;
};

class FeedsBar : public QWidget {
  Q_OBJECT

 public:
  explicit FeedsBar(QWidget* parent = nullptr);
  // `drawn`: there is a network at all.
  void setFeeds(const std::vector<FeedLine>& feeds, bool drawn);
  const std::vector<FeedLine>& feeds() const { return m_feeds; }

 Q_SIGNALS:
  void remedyWanted(const loom::FeedLine& feed);
  void inputChosen(const loom::FeedLine& feed);
  void drawingWanted();

 private:
  std::vector<FeedLine> m_feeds;
  int m_drawn = -1;  // as it was shown; -1 = nothing yet
  FlowLayout* m_line;
};

}  // namespace loom
