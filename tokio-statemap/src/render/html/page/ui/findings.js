// Finds the issues and the table of locations between frames, and again when the threshold moves.

import { findIssues } from "../model/issues.js";
import { locationTable } from "../model/locations.js";
import { nextTask } from "./load.js";

/** Finds them in steps, and stops when the threshold moves meanwhile. */
export const findAgain = async (view, { issues, locations }) => {
  const { model, threshold } = view;
  await nextTask();
  if (view.threshold !== threshold) return;
  view.setIssues(findIssues(model, threshold));
  issues.draw();
  await nextTask();
  if (view.threshold !== threshold) return;
  locations.setRows(locationTable(model, threshold));
};
