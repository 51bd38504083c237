// The filtered and sorted list of tasks. Intermediate results are kept as long as they are valid.

export class TaskList {
  /** @param {import("./task_table.js").TaskTable} table */
  constructor(table) {
    this.table = table;
    this.found = new Uint32Array(0);
    this.at = null;
    /** @private */ this.order = null;
    /** @private The number of state changes so far, and when `at` was counted. */ this.changes = 0;
    /** @private */ this.changesAtCount = 0;
  }

  /** Invalidates `at`, because the states of a section have changed. */
  changeStates() {
    this.changes++;
  }

  /**
   * Updates the list. If it is interrupted, the previous list stays.
   * @param {{moment: number, key: string, isDescending: boolean, text: string, isIn?: (task: number) => boolean}} wanted
   */
  *find({ moment, key, isDescending, text, isIn }) {
    const { table, changes } = this;
    const isNew = this.at?.t !== moment || this.changesAtCount !== changes;
    const at = isNew ? yield* table.countAt(moment) : this.at;
    const by = `${key} ${isDescending}`;
    const isSorted = this.order?.by === by && !(isNew && ["state", "age"].includes(key));
    const order = isSorted ? this.order.of : yield* table.sorted(key, isDescending, at);
    const found = text.trim() === "" && isIn === undefined ? order : yield* table.matching(order, text, at, isIn);
    // As of the beginning: states that changed meanwhile make it out of date.
    Object.assign(this, { at, order: { by, of: order }, found, changesAtCount: changes });
    return true;
  }
}
