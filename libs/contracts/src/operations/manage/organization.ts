import { changeOrganizationBodySchema, organizationSchema } from '../../http/manage/organization';
import { defineOperations, get, patch } from '../operation';

const table = {
  getOrganization: get('/v1/organization', 'manage', { people: 'member', rateLimited: true }),
  changeOrganization: patch('/v1/organization', 'manage', { people: 'admin', rateLimited: true }),
};

const organization = { id: 'org_01', slug: 'acme', name: 'Acme', timezone: 'America/Santiago' };

export const organizationOperations = defineOperations('Settings', table, {
  getOrganization: {
    summary: 'Retrieve the organization',
    response: organizationSchema,
    example: { response: organization },
  },
  changeOrganization: {
    summary: 'Change the organization',
    description:
      'Changes the name or the time zone, for both environments. Schedules without a time zone of their own follow it.',
    body: changeOrganizationBodySchema,
    response: organizationSchema,
    errors: { 400: [['invalid_timezone', '"Santiago" is not a time zone']] },
    example: { body: { timezone: 'America/Santiago' }, response: organization },
  },
});
