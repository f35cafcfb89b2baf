#include "app/exports.h"

#include <QDesktopServices>
#include <QFileInfo>

#include "app/page.h"
#include "widgets/chart/chart_stack.h"

namespace loom {

void tellExports(ChartStack& charts, Page& page, const QString& place) {
  QObject::connect(&charts, &ChartStack::exported, &page, [&page, place](const QString& file, bool written) {
    const QFileInfo info(file);
    std::vector<PageProblem> problems;
    if (written) {
      page.context().notify(
          {QObject::tr("%1 is written.").arg(info.fileName()), QObject::tr("Show"),
           [folder = info.absolutePath()] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); }});
    } else {
      PageProblem problem;
      problem.place.page = place;
      problem.placeText = info.fileName();
      problem.message = QObject::tr("%1 cannot be written: choose a folder that may be written and has room").arg(file);
      problems.push_back(problem);
    }
    Q_EMIT page.problemsChanged(problems);
  });
}

}  // namespace loom
