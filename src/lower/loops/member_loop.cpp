// Gives each member one coordinate.
#include "lower/loops/member_loop.h"

#include <utility>

#include "lower/loops/dense_loop.h"
#include "lower/members.h"
#include "support/mutant.h"

namespace tulle::lower {

bool MemberLoop::applies(const LoopSite& site) const {
  return site.loop.tag.kind == nest::LoopTag::Kind::Member && site.parts.frame.members() > 1 &&
         site.visits_all();
}

void MemberLoop::lower(const LoopSite& site, Emitter& out) const {
  VisitedRange range = visited_range(site, out);
  range.bounds.begin = first_of_member(site.parts.kernel, site.parts.frame, site.loop.var);
  CountedBody counted = lower_counted(site, range, out);
  if (mutant("members-overlap")) return out.add(counting_loop(site, std::move(counted)));
  // Each member has at most one coordinate.
  Emitter own = out.nested();
  own.add(loop::Let::make(counted.counter, counted.bounds.begin));
  own.add(std::move(counted.body));
  out.add(loop::If::make(counted.bounds.begin < counted.bounds.end, own.take()));
}

}  // namespace tulle::lower
