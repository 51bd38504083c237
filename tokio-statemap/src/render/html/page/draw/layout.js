// Which row of the picture is where: headings, lanes and folded groups, from top to bottom.

export const FOLDED_HEIGHT = 36;
export const HEADING_HEIGHT = 20;

/** The name of a group in the set of folded groups. */
export const foldKey = (section, group) => `${section}.${group}`;

const WORKER_HEIGHTS = [[8, 20], [16, 14], [32, 10], [64, 7], [Infinity, 4]];
const TASK_HEIGHTS = [[16, 18], [40, 14], [100, 9], [400, 5], [Infinity, 3]];
/** How much higher lanes are where all of them fit even so. */
const ROOMY = 1.4;

/** How much of the lanes' height on the screen is open at first: a little scrolling hides less than folds do. */
const OPEN_SHARE = 1.6;

/** How high a lane is where `lanes` of them stand together, in px. */
export const laneHeight = (kind, lanes, roomy) => {
  const table = kind === "workers" ? WORKER_HEIGHTS : TASK_HEIGHTS;
  const height = table.find(([most]) => lanes <= most)[1];
  return roomy ? Math.round(height * ROOMY) : height;
};

/** Whether the section's heading stands for its only group too. */
export const isSingle = (section) => section.kind !== "tasks" && section.groups.length === 1;

const groupLanes = (group) => group.endLane - group.firstLane;

/** How high an open group is, heading and all. */
export const openHeight = (section, group, roomy) => {
  const lanes = groupLanes(group);
  const heading = lanes === 1 || isSingle(section) ? 0 : HEADING_HEIGHT;
  return heading + lanes * laneHeight(section.kind, lanes, roomy);
};

/** Whether there is room for higher lanes, even with all groups open. */
export const isRoomy = (model, room) => {
  let height = 0;
  for (const section of model.sections) {
    if (section.nLanes > 0) height += HEADING_HEIGHT;
    for (const group of section.groups) height += openHeight(section, group, true);
    if (height > room) return false;
  }
  return true;
};

/**
 * Lays the picture out.
 *
 * `folded` holds `foldKey`s; `filter` is null or `{section, group}`: of that section only that group
 * is shown. Items bear `kind`: "section", "group", "lanes", "stack" (a folded group); `y` and `h` in px from
 * the top. A section whose only group is folded has no heading: the folded row bears its title.
 */
export const layOut = (model, folded, filter, roomy) => {
  const items = [];
  let y = 0;
  let workersEnd = 0;
  const shown = new Map();
  const push = (kind, h, fields) => {
    const item = { kind, y, h, group: null, ...fields };
    items.push(item);
    if (kind === "lanes" || kind === "stack") shown.set(foldKey(item.section.index, item.group.index), item);
    y += h;
  };
  for (const section of model.sections) {
    if (section.nLanes === 0 || hiddenByFilter(model, section, filter)) continue;
    const single = isSingle(section);
    if (single && folded.has(foldKey(section.index, 0))) {
      push("stack", FOLDED_HEIGHT, { section, group: section.groups[0], titled: true });
      if (section.kind === "workers") workersEnd = y;
      continue;
    }
    push("section", HEADING_HEIGHT, { section, group: single ? section.groups[0] : null });
    for (const group of section.groups) {
      if (filter && filter.section === section.index && filter.group !== group.index) continue;
      const lanes = groupLanes(group);
      if (lanes === 0) continue;
      const solo = lanes === 1 && !single;
      if (!solo && folded.has(foldKey(section.index, group.index))) {
        push("stack", FOLDED_HEIGHT, { section, group });
        continue;
      }
      if (!solo && !single) push("group", HEADING_HEIGHT, { section, group });
      const each = laneHeight(section.kind, lanes, roomy);
      push("lanes", lanes * each, { section, group, each, solo, firstLane: group.firstLane, endLane: group.endLane });
    }
    if (section.kind === "workers") workersEnd = y;
  }
  return { items, shown, height: y, workersEnd };
};

const hiddenByFilter = (model, section, filter) =>
  filter !== null && filter.section !== section.index && section.kind !== "workers" &&
  section.kind === model.sections[filter.section].kind;

/** The index of the item at `y`, the nearest if there is none. */
export const itemIndexAt = (layout, y) => {
  let least = 0;
  let most = layout.items.length - 1;
  while (least < most) {
    const middle = (least + most + 1) >> 1;
    if (layout.items[middle].y <= y) least = middle;
    else most = middle - 1;
  }
  return least;
};

/** The item that shows this group: its lanes, or its folded row; null if it is filtered out. */
export const itemOfGroup = (layout, section, group) =>
  layout.shown.get(foldKey(section.index, group)) ?? null;

/** Where this lane is: `{y, h}`, a folded group's whole row where it is folded; null if it isn't shown. */
export const placeOfLane = (layout, section, lane) => {
  const item = itemOfGroup(layout, section, section.laneGroup[lane]);
  if (item === null) return null;
  if (item.kind === "stack") return { y: item.y, h: item.h, folded: true };
  return { y: item.y + (lane - item.firstLane) * item.each, h: item.each, folded: false };
};

/** How high a group is that is folded. */
const closedHeight = (section, group) =>
  (groupLanes(group) === 1 && !isSingle(section) ? openHeight(section, group) : FOLDED_HEIGHT);

/**
 * What is folded at first: as many groups are open, from the top, as fit into little more than the
 * `room` px of the screen; the group of the worst poll always is, blocking threads never.
 */
export const initialFolds = (model, worst, room) => {
  const folded = new Set();
  let left = room * OPEN_SHARE;
  for (const section of model.sections) {
    if (section.nLanes > 0) left -= HEADING_HEIGHT;
    for (const group of section.groups) left -= closedHeight(section, group);
  }
  const open = (section, group) => { left -= openHeight(section, group) - closedHeight(section, group); };
  for (const section of model.sections) {
    for (const group of section.groups) {
      const isWorst = worst !== null && worst.section === section.index && worst.group === group.index;
      if (isWorst || section.kind === "workers") open(section, group);
    }
  }
  for (const section of model.sections) {
    if (section.kind === "workers") continue;
    for (const group of section.groups) {
      const isWorst = worst !== null && worst.section === section.index && worst.group === group.index;
      const first = worst === null && section.kind !== "blocking" && group.index === 0;
      if (isWorst) continue;
      const fits = openHeight(section, group) - closedHeight(section, group) <= left && section.kind !== "blocking";
      if (first || fits || (groupLanes(group) === 1 && !isSingle(section))) open(section, group);
      else folded.add(foldKey(section.index, group.index));
    }
  }
  return folded;
};
