// What C++ knows GPU objects by.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Objects } from '../lib/objects.js';

test('one object has one number, until it was removed as often as it was added', () => {
  const objects = new Objects();
  const [a, b] = [{}, {}];
  const number = objects.add(a);
  assert.notEqual(number, 0);
  assert.equal(objects.add(a), number);
  assert.notEqual(objects.add(b), number);
  assert.equal(objects.count, 2);
  objects.remove(number);
  assert.equal(objects.get(number), a);
  objects.remove(number);
  assert.equal(objects.get(number), undefined);
  assert.equal(objects.count, 1);
  objects.remove(number);
  objects.remove(0);
  assert.equal(objects.add({}), number);
});
