import { heldNs } from "../model/polls.js";
import { takenNs } from "../model/why.js";
import { workerOfPoll } from "../model/worker_polls.js";

// Hatches what the machine took of long polls. Only the amount is known, not when: the hatching is at the poll's end.

/** The least width of a poll and of its hatched part, and the least height of their lane, in px. */
const POLL_PX = 24;
const TAKEN_PX = 2;
const LANE_PX = 6;

/** Returns the polls of a section of which the machine took something. */
const takenPolls = (section) => (section.taken ??= section.why === null ? [] : [...section.why.polls.values()].filter((poll) => poll.transition >= 0 && takenNs(poll) > 0));

/** Hatches the polls on the screen that are wide enough, on the lanes of their tasks and their workers. */
export const drawTaken = (view, context) => {
  for (const section of view.model.sections) {
    for (const poll of takenPolls(section)) {
      const { transition } = poll;
      const from = section.time[transition];
      if (from >= view.t1) continue;
      const held = heldNs(section, transition);
      const width = view.x(from + held) - view.x(from);
      if (from + held <= view.t0 || width < POLL_PX || held <= view.thresholdOf(section)) continue;
      const taken = Math.min(held, takenNs(poll));
      if ((width * taken) / held < TAKEN_PX) continue;
      hatchEnd(view, context, section, section.rowLane[section.rowOf(transition)], from + held - taken, from + held);
      const worker = workerOfPoll(section, transition);
      if (worker !== null) hatchEnd(view, context, worker.section, worker.section.rowLane[worker.row], from + held - taken, from + held);
    }
  }
};

const hatchEnd = (view, context, section, lane, from, to) => {
  const place = view.placeOf(section, lane);
  if (place === null || place.folded || !place.visible || place.h < LANE_PX) return;
  const [x0, x1] = [Math.max(0, view.x(from)), Math.min(view.width, view.x(to))];
  const top = place.fixed ? place.top : Math.max(place.top, view.covered);
  const height = place.top + place.h - 1 - top;
  if (x1 <= x0 || height <= 0) return;
  context.save();
  context.beginPath();
  context.rect(x0, top, x1 - x0, height);
  context.clip();
  context.strokeStyle = view.colours.paper.css;
  context.globalAlpha = 0.72;
  context.lineWidth = 2;
  context.beginPath();
  // At multiples of the distance from the poll's end, so that the lines move with it.
  const end = view.x(to);
  const steps = Math.ceil((end - x0 + height) / 6);
  for (let k = Math.max(0, Math.floor((end - x1) / 6)); k <= steps; k++) {
    context.moveTo(end - k * 6, top + height);
    context.lineTo(end - k * 6 + height, top);
  }
  context.stroke();
  context.restore();
};
