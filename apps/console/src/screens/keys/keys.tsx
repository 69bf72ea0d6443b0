import { getRouteApi } from '@tanstack/react-router';
import { ApiKeys } from './api-keys';
import { PublishableKeys } from './publishable-keys';

const route = getRouteApi('/$organization/$environment/keys');

export function Keys() {
  const { view } = route.useSearch();
  return view === 'publishable' ? <PublishableKeys /> : <ApiKeys />;
}
