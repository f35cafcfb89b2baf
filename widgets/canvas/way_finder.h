#pragma once
// How one wire finds its way. Part of WireRouter.
#include <QPointF>
#include <QRectF>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "widgets/canvas/wire_router.h"
#include "widgets/document/card_geometry.h"

namespace loom {

// The search for one wire's way among the cards and the wires that chose before it.
class WayFinder {
 public:
  // Not longer than until `end` where there is one, and from the `next`th on of what it tries beside the cards.
  WayFinder(const WireRouter& router, WireRouter::Number wire, QRectF& looked, std::size_t next,
            const WireRouter::Time* end)
      : m_router(router),
        m_source(router.m_wires[wire].ends.source),
        m_rank(router.rankOf(wire)),
        m_looked(looked),
        m_next(next),
        m_end(end) {}

  // None where the time is over; next() is then where to go on.
  std::optional<std::vector<QPointF>> find(QPointF from, QPointF to) {
    see(QRectF(from, to).normalized());
    auto points = straight(from, to);
    if (!points) points = bent(from, to);
    if (!points && to.y() - from.y() < 30) {
      m_pitch = kTightPitch;
      points = bent(from, to);
      m_pitch = kLanePitch;
    }
    if (!points) points = aside(from, to);
    if (m_interrupted) return std::nullopt;
    return withoutEmptyTurns(points ? std::move(*points) : through(from, to));
  }
  std::size_t next() const { return m_next; }

 private:
  static constexpr double kLanePitch = 10, kTightPitch = 4;
  static constexpr double kBesideCard = 8;  // a lane keeps this from a card
  static constexpr double kOverCard = 4;    // a track keeps this
  static constexpr double kFar = 1500;      // a lane further off than this is none
  static constexpr std::array kTracks{14.0, 8.0, 20.0, 26.0, 32.0, 38.0, 44.0};

  static std::vector<QPointF> withoutEmptyTurns(std::vector<QPointF> points) {
    for (std::size_t i = 1; i + 1 < points.size();) {
      const bool flat = points[i - 1].y() == points[i].y() && points[i].y() == points[i + 1].y();
      const bool steep = points[i - 1].x() == points[i].x() && points[i].x() == points[i + 1].x();
      if (flat || steep || points[i - 1] == points[i])
        points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;
    }
    return points;
  }

  using Way = std::optional<std::vector<QPointF>>;

  void see(const QRectF& area) { m_looked = m_looked.united(area.adjusted(-16, -16, 16, 16)); }

  bool across(double y, double x1, double x2) {  // true: no card in the way
    const double low = std::min(x1, x2) - kBesideCard, high = std::max(x1, x2) + kBesideCard;
    const QRectF area(QPointF(low, y - kOverCard), QPointF(high, y + kOverCard));
    see(area);
    return !m_router.m_cards.any(area, [&](std::size_t, const QRectF& card) {
      return card.right() > low && card.left() < high && y > card.top() - kOverCard + 0.5 &&
             y < card.bottom() + kOverCard - 0.5;
    });
  }
  bool down(double x, double y1, double y2) {
    const double low = std::min(y1, y2), high = std::max(y1, y2);
    const QRectF area(QPointF(x - kBesideCard, low - kOverCard), QPointF(x + kBesideCard, high + kOverCard));
    see(area);
    return !m_router.m_cards.any(area, [&](std::size_t, const QRectF& card) {
      return card.right() > x - kBesideCard && card.left() < x + kBesideCard && high > card.top() - kOverCard &&
             low < card.bottom() + kOverCard;
    });
  }
  bool taken(bool level, double at, double a, double b) {
    return m_router.m_pieces.any(
        level, at, m_pitch - 1, std::min(a, b) - 2, std::max(a, b) + 2, [&](const WirePiece& other) {
          return m_router.m_wires[other.wire].ends.source != m_source && m_router.rankOf(other.wire) < m_rank;
        });
  }
  bool trackFree(double y, double x1, double x2) { return across(y, x1, x2) && !taken(true, y, x1, x2); }
  // The ends touch the pins' own cards, so they do not count.
  bool laneFree(double x, double y1, double y2) {
    if (std::abs(y2 - y1) < 12) return true;
    const double inset = y2 > y1 ? 5 : -5;
    return down(x, y1 + inset, y2 - inset) && !taken(false, x, y1 + inset, y2 - inset);
  }

  Way straight(QPointF from, QPointF to) {
    if (std::abs(from.x() - to.x()) > 0.5 || to.y() <= from.y() || !laneFree(from.x(), from.y(), to.y()))
      return std::nullopt;
    return std::vector{from, to};
  }

  // One track: down, across, down. Late where it can be, so that a wire stays with what it comes from.
  Way bent(QPointF from, QPointF to) {
    const double gap = to.y() - from.y();
    if (gap < 16) return std::nullopt;
    const auto tryAt = [&](double y) -> Way {
      if (y < from.y() + kOverCard || y > to.y() - kOverCard) return std::nullopt;
      if (!trackFree(y, from.x(), to.x()) || !laneFree(from.x(), from.y(), y) || !laneFree(to.x(), y, to.y()))
        return std::nullopt;
      return std::vector{from, QPointF(from.x(), y), QPointF(to.x(), y), to};
    };
    const double near = std::min(20.0, gap / 2);
    for (const double base : {to.y() - near, from.y() + near})
      for (int step = 0; step < 5; ++step)
        for (const double side : {-1.0, 1.0}) {
          if (auto found = tryAt(base + side * step * m_pitch)) return found;
          if (step == 0) break;
        }
    return std::nullopt;
  }

  // Two tracks and a lane between: beside the cards in the way, the nearest at their right before one at their left.
  Way aside(QPointF from, QPointF to) {
    std::vector<double> candidates;
    const double low = std::min(from.y(), to.y()) - 20, high = std::max(from.y(), to.y()) + 20;
    const QRectF band(QPointF(std::min(from.x(), to.x()) - kFar, low),
                      QPointF(std::max(from.x(), to.x()) + kFar, high));
    std::set<std::pair<double, double>> columns;
    m_router.m_cards.any(band, [&](std::size_t, const QRectF& card) {
      if (card.bottom() >= low && card.top() <= high && card.right() > band.left() && card.left() < band.right())
        columns.emplace(card.left(), card.right());
      return false;
    });
    const auto cost = [&](double x) {
      const double leftwards = x < std::min(from.x(), to.x()) ? 30 : 0;
      return std::abs(x - from.x()) + std::abs(x - to.x()) + leftwards;
    };
    for (const auto& [left, right] : columns)
      for (int lane = 0; lane < 6; ++lane) {
        candidates.push_back(right + 14 + lane * kLanePitch);
        candidates.push_back(left - 14 - lane * kLanePitch);
      }
    std::sort(candidates.begin(), candidates.end(),
              [&](double a, double b) { return std::pair(cost(a), a) < std::pair(cost(b), b); });
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    // A card nearer than the lane may make a nearer lane: the answer holds as long as none comes or goes up to there.
    const auto sawUpTo = [&](double x) {
      const double reach = cost(x) + 80;
      see(QRectF(QPointF(std::min({from.x(), to.x(), x}) - reach, low),
                 QPointF(std::max({from.x(), to.x(), x}) + reach, high))
              .intersected(band.adjusted(-400, 0, 400, 0)));
    };
    const Middle middle = middleOf(from, to, band);
    // What does not depend on the lane is asked once: whether a wire may leave its pins to a track.
    Asked leaves{}, arrives{};
    for (std::size_t at = m_next; at < candidates.size(); ++at) {
      if (m_end != nullptr && at > m_next && std::chrono::steady_clock::now() > *m_end) {
        m_next = at;
        m_interrupted = true;
        return std::nullopt;
      }
      const double x = candidates[at];
      // What stands in the middle of the lane bars it for every pair of tracks.
      if (middle.is() && (middle.bars(x, *this) || taken(false, x, middle.top, middle.bottom))) continue;
      Asked meets{};
      for (std::size_t above = 0; above < kTracks.size(); ++above) {
        const double begins = from.y() + kTracks[above];
        if (!asked(leaves[above], [&] { return laneFree(from.x(), from.y(), begins); }) ||
            !trackFree(begins, from.x(), x))
          continue;
        if (middle.is() && (!down(x, begins + 5, middle.top) || taken(false, x, begins + 5, middle.top))) continue;
        for (std::size_t below = 0; below < kTracks.size(); ++below) {
          const double ends = to.y() - kTracks[below];
          if (!asked(arrives[below], [&] { return laneFree(to.x(), ends, to.y()); })) continue;
          const auto meeting = [&] {
            if (middle.is() && (!down(x, middle.bottom, ends - 5) || taken(false, x, middle.bottom, ends - 5)))
              return false;
            return trackFree(ends, x, to.x());
          };
          if (!asked(meets[below], meeting) || (!middle.is() && !laneFree(x, begins, ends))) continue;
          sawUpTo(x);
          return std::vector{
              from, QPointF(from.x(), begins), QPointF(x, begins), QPointF(x, ends), QPointF(to.x(), ends), to};
        }
      }
    }
    see(band);
    return std::nullopt;
  }

  // An answer for each track that was asked for already.
  enum class Answer : char { none, no, yes };
  using Asked = std::array<Answer, kTracks.size()>;
  template <class Ask>
  static bool asked(Answer& answer, Ask ask) {
    if (answer == Answer::none) answer = ask() ? Answer::yes : Answer::no;
    return answer == Answer::yes;
  }

  // The part of a lane that all tracks have in common, and where cards bar it: gathered once, it may be long. What is
  // not looked at by see() lies in what aside() says that it saw.
  struct Middle {
    double top = 0, bottom = 0, left = 0, right = 0;  // known between left and right
    std::vector<std::pair<double, double>> barred;    // from left to right, apart
    bool is() const { return bottom > top + 12; }
    bool bars(double x, WayFinder& finder) const {
      if (x - kBesideCard <= left || x + kBesideCard >= right) return !finder.down(x, top, bottom);
      const auto behind =
          std::upper_bound(barred.begin(), barred.end(), x, [](double at, const auto& bar) { return at <= bar.first; });
      return behind != barred.begin() && x < std::prev(behind)->second;
    }
  };
  Middle middleOf(QPointF from, QPointF to, const QRectF& band) const {
    Middle middle{from.y() + kTracks.back() + 5, to.y() - kTracks.back() - 5, band.left(), band.right(), {}};
    if (!middle.is()) return middle;
    std::vector<std::pair<double, double>> bars;
    m_router.m_cards.any(band, [&](std::size_t, const QRectF& card) {
      if (middle.bottom > card.top() - kOverCard && middle.top < card.bottom() + kOverCard)
        bars.emplace_back(card.left() - kBesideCard, card.right() + kBesideCard);
      return false;
    });
    std::sort(bars.begin(), bars.end());
    for (const auto& bar : bars)
      if (!middle.barred.empty() && bar.first < middle.barred.back().second)
        middle.barred.back().second = std::max(middle.barred.back().second, bar.second);
      else
        middle.barred.push_back(bar);
    return middle;
  }

  // Cards so close that nothing is free: the shortest way, over whatever lies there.
  static std::vector<QPointF> through(QPointF from, QPointF to) {
    if (to.y() > from.y()) {
      const double middle = (from.y() + to.y()) / 2;
      return {from, {from.x(), middle}, {to.x(), middle}, to};
    }
    const double x = std::max(from.x(), to.x()) + kWideCardWidth / 2 + 14;
    return {from, {from.x(), from.y() + 8}, {x, from.y() + 8}, {x, to.y() - 8}, {to.x(), to.y() - 8}, to};
  }

  const WireRouter& m_router;
  std::uint32_t m_source;
  WireRouter::Rank m_rank;
  QRectF& m_looked;
  double m_pitch = kLanePitch;  // halved where rows stand close
  std::size_t m_next;
  const WireRouter::Time* m_end;
  bool m_interrupted = false;
};

}  // namespace loom
