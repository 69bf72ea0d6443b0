import type { Entity, JsonObject } from '@parley/client';
import { kindOf } from '@parley/rows';
import type { DataField } from '../screens/data/fields';

export const entityOf = (id: string, data: JsonObject = {}): Entity => ({
  id,
  type: 'order',
  status: 'active',
  data,
  createdAt: Date.UTC(2026, 0, 1),
  updatedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
});

export const fieldOf = (
  name: string,
  type = 'string',
  more: Partial<DataField> = {},
): DataField => ({
  name,
  type,
  kind: kindOf(type),
  isRequired: false,
  isSearched: false,
  properties: [],
  ...more,
});
