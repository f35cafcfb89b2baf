// ProjectDocument: groups, repeat frames and comments.
#include <algorithm>

#include "widgets/document/group_edits.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/project_document.h"
#include "widgets/document/texts.h"

namespace loom {

namespace {

QString titleOf(const Group& group) {
  return q(group.title.empty() ? group.id : group.title);
}

}  // namespace

Outcome ProjectDocument::mayRepeat(const std::string& drawing, const std::vector<std::string>& ids) const {
  const std::optional<Drawing> shown = drawn(drawing);
  return !shown ? Outcome::refused(tr("There is no drawing '%1'").arg(q(drawing)))
                : Outcome{q(whyNotRepeat(*shown, {ids.begin(), ids.end()}))};
}

std::string ProjectDocument::makeGroup(const std::string& drawing, const std::vector<std::string>& ids,
                                       const std::string& title, const Json& repeat) {
  std::string made;
  editDrawing(repeat.is_null() ? tr("Group %1").arg(q(title)) : tr("Repeat %1").arg(q(title)), drawing,
              [&](DrawingEdit& edit) {
                made = loom::makeGroup(edit, ids, title);
                if (repeat.is_null() || made.empty()) return;
                for (Group& group : edit.groups())
                  if (group.id == made) group.repeat = repeat;
              });
  return made;
}

Outcome ProjectDocument::setGroup(const std::string& drawing, const Group& wanted) {
  const Network* before = m_project.drawing(drawing);
  const Group* group = before == nullptr ? nullptr : before->group(wanted.id);
  if (group == nullptr) return Outcome::refused(tr("There is no group '%1'").arg(q(wanted.id)));
  if (wanted.repeat != group->repeat && repeats(wanted))
    if (const std::string why = whyNotRepeat(*drawn(drawing), membersOf(*before, wanted.id)); !why.empty())
      return Outcome::refused(q(why));
  if (!isArgumentName(wanted.counter))
    return Outcome::refused(tr("'%1' is no name of a counter: letters, digits and '_'").arg(q(wanted.counter)));
  const bool colour = wanted.colour != group->colour, title = wanted.title != group->title;
  const QString what = title    ? tr("Rename group %1").arg(titleOf(*group))
                       : colour ? tr("Colour %1").arg(titleOf(*group))
                                : tr("Set %1").arg(titleOf(*group));
  editDrawing(
      what, drawing,
      [&](DrawingEdit& edit) {
        for (Group& mine : edit.groups()) {
          if (mine.id != wanted.id) continue;
          mine.title = wanted.title;
          mine.colour = wanted.colour;
          mine.repeat = wanted.repeat == 1 ? Json() : wanted.repeat;
          mine.counter = wanted.counter;
        }
      },
      title || colour ? QString() : QStringLiteral("group %1/%2").arg(q(drawing), q(wanted.id)));
  return Outcome::done();
}

Outcome ProjectDocument::setGroupTitle(const std::string& drawing, const std::string& id, const std::string& title) {
  const Network* before = m_project.drawing(drawing);
  const Group* group = before == nullptr ? nullptr : before->group(id);
  if (group == nullptr) return Outcome::refused(tr("There is no group '%1'").arg(q(id)));
  if (title.empty()) return Outcome::refused(tr("A title cannot be empty"));
  Group wanted = *group;
  wanted.title = title;
  return setGroup(drawing, wanted);
}

void ProjectDocument::setFolded(const std::string& drawing, const std::string& id, bool folded) {
  const Network* before = m_project.drawing(drawing);
  const Group* group = before == nullptr ? nullptr : before->group(id);
  if (group == nullptr || group->folded == folded) return;
  editDrawing((folded ? tr("Fold %1") : tr("Open %1")).arg(titleOf(*group)), drawing,
              [&, which = std::string(id)](DrawingEdit& edit) { loom::setFolded(edit, which, folded); });
}

void ProjectDocument::setAllFolded(const std::string& drawing, bool folded) {
  editDrawing(folded ? tr("Fold all groups") : tr("Open all groups"), drawing, [&](DrawingEdit& edit) {
    const Network& changed = edit.network();
    // The inner ones first when folding, the outer ones first when opening: each sees the places that it would see by
    // hand.
    std::vector<std::string> ids;
    for (const Group& group : changed.groups) ids.push_back(group.id);
    const auto depth = [&](const std::string& id) {
      int levels = 0;
      for (const Group* at = changed.group(id); at != nullptr && levels < 100; at = changed.group(at->parent)) ++levels;
      return folded ? -levels : levels;
    };
    std::stable_sort(ids.begin(), ids.end(),
                     [&](const std::string& a, const std::string& b) { return depth(a) < depth(b); });
    for (const std::string& id : ids) loom::setFolded(edit, id, folded);
  });
}

void ProjectDocument::dissolveGroups(const std::string& drawing, const std::vector<std::string>& ids) {
  const Network* before = m_project.drawing(drawing);
  if (before == nullptr || ids.empty()) return;
  const Group* first = before->group(ids.front());
  const QString what = ids.size() == 1 && first != nullptr ? titleOf(*first) : tr("%1 groups").arg(ids.size());
  editDrawing(tr("Ungroup %1").arg(what), drawing, [&](DrawingEdit& edit) {
    for (const std::string& id : ids) dissolveGroup(edit, id);
  });
}

void ProjectDocument::moveToGroup(const std::string& drawing, const std::vector<std::string>& ids,
                                  const std::string& group) {
  const Network* before = m_project.drawing(drawing);
  const Group* target = before == nullptr ? nullptr : before->group(group);
  if (before == nullptr || ids.empty()) return;
  editDrawing(target == nullptr ? tr("Take out of groups") : tr("Move into %1").arg(titleOf(*target)), drawing,
              [&, into = std::string(group)](DrawingEdit& edit) { loom::moveToGroup(edit, ids, into); });
}

std::string ProjectDocument::addComment(const std::string& drawing, const Comment& wanted) {
  std::string id;
  editDrawing(tr("Add a comment"), drawing, [&](DrawingEdit& edit) {
    Comment comment = wanted;
    comment.id = id = edit.network().freeId("comment");
    edit.comments().push_back(std::move(comment));
  });
  return id;
}

void ProjectDocument::setComment(const std::string& drawing, const Comment& wanted) {
  editDrawing(tr("Change a comment"), drawing, [&](DrawingEdit& edit) {
    for (Comment& comment : edit.comments())
      if (comment.id == wanted.id) comment = wanted;
  });
}

void ProjectDocument::removeThings(const std::string& drawing, const std::vector<std::string>& nodes,
                                   const std::vector<std::string>& comments, bool heal) {
  if (comments.empty()) return removeNodes(drawing, nodes, heal);
  m_stack.beginMacro(nodes.empty() ? tr("Remove a comment")
                                   : tr("Remove %1 things").arg(nodes.size() + comments.size()));
  removeNodes(drawing, nodes, heal);
  editDrawing(tr("Remove a comment"), drawing, [&](DrawingEdit& edit) {
    std::erase_if(edit.comments(), [&](const Comment& each) {
      return std::find(comments.begin(), comments.end(), each.id) != comments.end();
    });
  });
  m_stack.endMacro();
}

}  // namespace loom
