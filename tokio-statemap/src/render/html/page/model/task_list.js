// Which tasks the table lists, and in which order: what was counted for it is kept as long as it holds.

export class TaskList {
  /** @param {import("./task_table.js").TaskTable} table */
  constructor(table) {
    this.table = table;
    this.found = new Uint32Array(0);
    this.at = null;
    /** @private */ this.order = null;
    /** @private How often states were replaced, in all, and when `at` was counted. */ this.changes = 0;
    /** @private */ this.changesAtCount = 0;
  }

  /** The states of a section are others now: `at` is of those before. */
  changeStates() {
    this.changes++;
  }

  /**
   * Finds what is listed. Who leaves off keeps what was there before.
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
    // As it was at first: states that were replaced meanwhile make it out of date.
    Object.assign(this, { at, order: { by, of: order }, found, changesAtCount: changes });
    return true;
  }
}
