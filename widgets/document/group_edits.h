#pragma once
// Groups, repeat frames and comments of a drawing as plain functions: no Qt signals, no undo. A group is a set of nodes
// and of groups in it; where its frame stands follows from its members.
#include <QRectF>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "widgets/document/drawing_edit.h"

namespace loom {

// Names of curve colours in tokens.json, as a group's or a comment's `colour` holds them; empty = the first.
const std::vector<std::string>& groupTints();

bool repeats(const Group& group);  // drawn as the frame with ×N
bool repeats(const Node& use);

std::set<std::string> membersOf(const Network& network,
                                const std::string& group);  // nodes, those of groups in it included
std::set<std::string> groupsIn(const Network& network, const std::string& group);  // groups below it, without itself
std::set<std::string> groupsInside(const Network& network,
                                   const std::set<std::string>& nodes);  // groups all of whose nodes are among them
std::string groupAround(const Network& network,
                        const std::set<std::string>& nodes);  // the innermost group that holds all; empty = none
// The outermost folded group that hides the node; empty = it is seen.
std::string hiddenIn(const Network& network, const Node& node);

// Where the groups' frames stand: around their members, with room for a head; of a folded one where it would stand if
// it were open. None for a group without members. `moved` overrides the places of nodes, as while they are dragged. One
// pass, whatever the number of groups.
std::map<std::string, QRectF> groupFrames(const Network& network, const std::map<std::string, QPointF>& moved = {});
QRectF groupFrame(const Network& network, const std::string& group);
// The card of a folded group: node size, at the top of where its frame would be.
QRectF foldedCard(const QRectF& frame);
QRectF foldedCard(const Network& network, const std::string& group);
QRectF commentRect(const Comment& comment);

// The nodes, all that they lead to and all that leads to them.
std::set<std::string> reachOf(const Drawing& drawing, const std::set<std::string>& nodes);
// A node outside that a way from one of the nodes leads through and back; empty where there is none.
std::string wayAround(const Drawing& drawing, const std::set<std::string>& nodes);

std::string makeGroup(DrawingEdit& edit, const std::vector<std::string>& ids,
                      const std::string& title);                  // answers its id
void dissolveGroup(DrawingEdit& edit, const std::string& group);  // its members go to the group around it
// Nodes and whole groups into a group; an empty one: out of all. What would put a group into itself is left out.
void moveToGroup(DrawingEdit& edit, const std::vector<std::string>& ids, const std::string& group);
// A group without members is no group: it goes.
void dropEmptyGroups(DrawingEdit& edit);
// Why the group or selection cannot be repeated: it needs one way in and one way out. Empty = it can.
std::string whyNotRepeat(const Drawing& drawing, const std::set<std::string>& nodes);
// Folds or opens; what stands below comes nearer or makes room.
void setFolded(DrawingEdit& edit, const std::string& group, bool folded);

// Everything that stands below `from`, hidden nodes with their card and comments too, goes down by `way`, or up where
// it is below 0; up only where it then covers nothing. `staying` stay where they are. False where nothing was done.
bool shiftBelow(DrawingEdit& edit, double from, double way, const std::set<std::string>& staying);
// Room for a group's head above its members and its foot below: what stands there, and all below it, goes down.
void makeRoom(DrawingEdit& edit, const std::string& group);

// Comments that stand wholly inside a rectangle: they go with a group.
std::vector<std::string> commentsIn(const Network& network, const QRectF& rect);

}  // namespace loom
