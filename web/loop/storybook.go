package loop

// storyGroup is a heading in the storybook's list, with the stories below it.
type storyGroup struct {
	Name    string
	Stories []story
}

// storyGroups groups stories under their headings, both in the given order.
func storyGroups(stories []story) []storyGroup {
	var groups []storyGroup
	at := map[string]int{}
	for _, s := range stories {
		i, ok := at[s.Group]
		if !ok {
			i = len(groups)
			at[s.Group] = i
			groups = append(groups, storyGroup{Name: s.Group})
		}
		groups[i].Stories = append(groups[i].Stories, s)
	}
	return groups
}
