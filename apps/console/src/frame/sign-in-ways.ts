import { useQuery } from '@tanstack/react-query';
import { people } from '../api/session';

/** How people can sign in at this server. */
export const useSignInWays = () =>
  useQuery({ queryKey: ['ways'], queryFn: () => people.getSignInWays(), staleTime: Infinity });
