/** What C++ knows by number. Number 0 is nothing. */
export class Objects {
  #all = [undefined];
  #free = [];

  add(object) {
    const number = this.#free.pop() ?? this.#all.length;
    this.#all[number] = object;
    return number;
  }

  get(number) {
    return this.#all[number];
  }

  remove(number) {
    if (number === 0 || this.#all[number] === undefined) return;
    this.#all[number] = undefined;
    this.#free.push(number);
  }

  /** How many there are, for tests. */
  get count() {
    return this.#all.length - 1 - this.#free.length;
  }
}
