/** What went wrong, and whose fault it is: see `kind` in wavegate.d.ts. */
export class WavegateError extends Error {
  constructor(kind, message, where = '') {
    super(where ? `${where}: ${message}` : message);
    this.name = 'WavegateError';
    this.kind = kind;
    this.where = where;
  }
}
