package main

import "fmt"

// parts are all parts of the long tier. A test that takes longer than a part may is in several,
// each with another pattern for its subtests.
var parts = append(
	badNetworks(),
	part{name: "loop-ways", packages: []string{"./web/loop"}, tests: []string{
		"TestWaysByGesture", "TestWaysDraw", "TestWaysHistory", "TestWaysInside", "TestWaysReconnect",
		"TestWaysSettings", "TestWaysShare", "TestWaysStrip", "TestEvictedRun", "TestChain",
	}},
	part{name: "loop-states", packages: []string{"./web/loop"}, tests: []string{
		"TestEveryStateIsAccessible", "TestZoomByKeyboard",
	}},
	part{name: "loop-story", packages: []string{"./web/loop"}, tests: []string{
		"TestStoryStatesAreAccessible", "TestChatForm", "TestSettingsBeforeStart", "TestBytesGrowWithTheText",
	}},
	part{name: "learn-screens", packages: []string{"./web/learn"}, tests: []string{
		"TestAccessible", "TestAccessibleAnswers", "TestReflow",
	}},
	part{name: "learn-experiments", packages: []string{"./web/learn"}, tests: []string{
		"TestExperimentsAccessible", "TestPictureAccessible",
	}},
	part{name: "learn-ways", packages: []string{"./web/learn"}, tests: []string{
		"TestLessonByEveryHand", "TestPictureByEveryHand", "TestExperimentsByEveryHand",
		"TestFrontDoorLeadsIntoTheFirstRun", "TestTermNoteOpensInPlace",
	}},
	part{name: "practice-screens", packages: []string{"./web/practice"}, tests: []string{
		"TestRevealAccessible", "TestDrillAsDrawn", "TestPractisePages", "TestProgressAccessible", "TestFiveToTheEnd",
	}},
	part{name: "practice-ways", packages: []string{"./web/practice"}, tests: []string{
		"TestSmallDrillByEveryHand", "TestQuizByEveryHand",
	}},
	part{name: "killed-class", packages: []string{"./cmd/viz"}, tests: []string{"TestKilledClass"}},
	part{
		name: "killed-cluster-servers", packages: []string{"./cmd/viz"}, tests: []string{"TestKilledCluster"},
		sub: "(owner|server)",
	},
	part{
		name: "killed-cluster-nodes", packages: []string{"./cmd/viz"}, tests: []string{"TestKilledCluster"},
		sub: "node",
	},
	part{
		name: "killed-databases", packages: []string{"./web/store", "./web/progress", "./web/class", "./web/journal"},
		tests: []string{"TestKilled", "TestKilledBetweenReviews", "TestKilledInMidClass", "TestKilledBetweenAppends"},
	},
	part{name: "damaged-databases", packages: []string{"./web/store", "./web/class"}, tests: []string{
		"TestDamagedAtRandom", "TestRowsDamagedAtRandom", "TestPagesDamagedAtRandom",
	}},
	part{name: "random-classes", packages: []string{"./web/class", "./web/cluster"}, tests: []string{
		"TestNothingCountsTwiceWhateverHappens",
	}},
	part{name: "streams", packages: []string{"./web/journal/stream"}, tests: []string{
		"TestConformance", "TestConformanceOfThreeNodes", "TestNodesComeAndGo",
	}},
	part{name: "eight-hours", packages: []string{"./web"}, tests: []string{"TestEightHoursOfClasses"}},
	part{name: "memory-rush", packages: []string{"./cmd/viz"}, tests: []string{"TestMemoryInARush"}},
	part{name: "labs-screens", packages: []string{"./web/labs"}, tests: []string{
		"TestAccessible", "TestGuessIsMarkedAmongTheSavings",
	}},
	part{name: "labs-ways", packages: []string{"./web/labs"}, tests: []string{
		"TestEveryLabByEveryHand", "TestCancelKeeps", "TestSlidersAndResultsFollow", "TestStepThroughLanes",
		"TestListsAreChips", "TestCutAndReload",
	}},
	part{name: "deep-model", packages: []string{"./cmd/viz"}, tests: []string{"TestDeepModelOnEveryScreen"}},
	part{name: "journey-and-labs", packages: []string{"./cmd/viz"}, tests: []string{
		"TestJourneyByKeyboard", "TestLabs",
	}},
	part{name: "class-screens", packages: []string{"./web/classroom"}, tests: []string{
		"TestAccessible", "TestClassInTheStory", "TestEndOfClass", "TestVoteComesIntoView", "TestDraftByKeyboard",
		"TestNamesFallIntoTheStrip", "TestAssignByEveryHand",
	}},
	part{name: "first-run", packages: []string{"./web/first"}, tests: []string{
		"TestBrowserFirstRun", "TestScenesAreAccessible",
	}},
	part{name: "why", packages: []string{"./web/why"}, tests: []string{
		"TestBrowserSwitchesParts", "TestPageIsAccessible", "TestScoreIsAccessible",
	}},
	part{
		name: "api-and-frames", packages: []string{"./web/api", "./web/embed", "./web/model"},
		tests: []string{"TestRequestsAppearLive", "TestPageIsAccessible", "TestLoopInAFrame", "TestPageForEverybody"},
	},
	part{name: "pages-move", packages: []string{"./cmd/viz"}, tests: []string{"TestPagesMoveToOtherServers"}},
	part{name: "cached-and-not", packages: []string{"./infer"}, tests: []string{"TestCachedEqualsUncached"}},
	part{name: "speculation", packages: []string{"./infer", "./infer/lab", "./infer/tokenizer"}, tests: []string{
		"TestSpeculationHasTheTargetsDistribution", "TestGreedySpeculationIsPlainGreedy", "TestCancel",
		"TestParseMemory",
	}},
	part{name: "release", packages: []string{"./cmd/viz/dist"}, tests: []string{"TestReproducible"}},
	part{name: "hostile-client", packages: []string{"./web"}, tests: []string{"TestHostileClient"}},
	part{name: "tab-learn-lessons", packages: []string{"./web/learn"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestLessonByEveryHand", "TestReadingIsNoticed", "TestReadingIsReportedAgain", "TestSearchFromAnyPage",
		"TestMenu", "TestTermNoteOpensInPlace", "TestNumbersFoldedAndRemembered",
	)},
	part{name: "tab-learn-home", packages: []string{"./web/learn"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestHomeRuns", "TestHomeStandsStill", "TestHomeWritesFirst", "TestHomeKeepsTheSuspense",
		"TestFrontDoorLeadsIntoTheFirstRun", "TestFirstThingToTouch", "TestPictureFollows",
		"TestPictureByEveryHand",
	)},
	part{name: "tab-learn-experiments", packages: []string{"./web/learn"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestExperimentsByEveryHand", "TestExperimentSaysWhatIsWrong", "TestExperimentPlays",
		"TestExperimentWithoutAScript", "TestExperimentMoves", "TestAccessibleAnswers",
	)},
	part{name: "tab-learn-pages", packages: []string{"./web/learn"}, tests: []string{"TestInTabPages"}, sub: anyOf(
		"TestAccessible", "TestHomeIsShort", "TestOpeningsFitTheField",
	)},
	part{name: "tab-learn-paper", packages: []string{"./web/learn"}, tests: []string{"TestInTabPages"}, sub: anyOf(
		"TestExperimentsAccessible", "TestExperimentIsStill", "TestLessonOnPaper", "TestReferenceIsOneSheet",
		"TestReflow",
	)},
	part{name: "tab-learn-pictures", packages: []string{"./web/learn"}, tests: []string{"TestInTabPictures"}},
	part{name: "tab-drills", packages: []string{"./web/practice"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestDrillAsDrawn", "TestDrillByKeyboard", "TestDrillMistakes", "TestDrillMoves", "TestDrillShared",
		"TestSmallDrillByEveryHand", "TestDrillAtSpeed", "TestHelpFollowsTheFocus", "TestFiveToTheEnd",
	)},
	part{name: "tab-practice", packages: []string{"./web/practice"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestQuizByEveryHand", "TestQuizOneByOne", "TestCardByHash", "TestCardsByKeyboard", "TestCardsByTouch",
		"TestPredictByKeyboard", "TestRevealAccessible", "TestCardsAreSaved", "TestProgressIsSavedAndBroughtBack",
		"TestCardsOnPaper", "TestProgressAccessible", "TestPractisePages",
	)},
	part{name: "tab-paper", packages: []string{"./web"}, tests: []string{"TestInTabPages"}},
	part{name: "tab-labs-fields", packages: []string{"./web/labs"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestEveryLabByEveryHand", "TestErrorNextToField", "TestJSONInStep", "TestJSONFollowsUnderTheCaret",
		"TestListsAreChips",
	)},
	part{name: "tab-labs-guesses", packages: []string{"./web/labs"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestGuessIsDrawnFirst", "TestGuessIsDrawnAsBars", "TestGuessIsMarkedInTheRace",
		"TestGuessIsMarkedAmongTheSavings", "TestCancelKeeps", "TestSlidersAndResultsFollow",
	)},
	part{name: "tab-labs-results", packages: []string{"./web/labs"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestRowsAreSaved", "TestChartsForPhones", "TestRingsAreDragged", "TestStepThroughLanes", "TestBillTicks",
		"TestRoundsStepByStep",
	)},
	part{name: "tab-labs-screens", packages: []string{"./web/labs"}, tests: []string{"TestInTabAccessible"}},
	part{name: "tab-labs-cut", packages: []string{"./web/labs"}, tests: []string{"TestInTabCut"}},
	part{name: "tab-loop", packages: []string{"./web/loop"}, tests: []string{"TestInTab"}},
	part{name: "tab-loop-fields", packages: []string{"./web/loop"}, tests: []string{"TestInTabFields"}},
	part{name: "tab-loop-history", packages: []string{"./web/loop"}, tests: []string{
		"TestInTabHistory", "TestInTabStrip",
	}},
	part{name: "tab-loop-inside", packages: []string{"./web/loop"}, tests: []string{"TestInTabInside"}},
	part{name: "tab-loop-moves", packages: []string{"./web/loop"}, tests: []string{"TestInTabMoves"}},
	part{name: "tab-loop-screens", packages: []string{"./web/loop"}, tests: []string{"TestInTabScreens"}},
	part{name: "tab-loop-words", packages: []string{"./web/loop"}, tests: []string{"TestInTabWords"}},
	part{name: "tab-loop-ways", packages: []string{"./web/loop"}, tests: []string{"TestInTabWays"}},
	part{name: "tab-first-and-why", packages: []string{"./web/first", "./web/why", "./web/model"}, tests: []string{
		"TestInTab",
	}},
	part{name: "tab-program", packages: []string{"./cmd/viz"}, tests: []string{"TestInTab", "TestTabBesideTheTrace"}},
	part{name: "site-downloads", packages: []string{"./web/site"}, tests: []string{
		"TestBrokenDownload", "TestSomethingElse", "TestOffline", "TestCablePulledAtEveryTenth", "TestNewVersion",
	}},
	part{name: "site-browsers", packages: []string{"./web/site"}, tests: []string{
		"TestTwoTabs", "TestNoStorage", "TestStorageFull", "TestSleepingTab", "TestPrivateWindow", "TestNoRoom",
	}},
	part{name: "site-pages", packages: []string{"./web/site"}, tests: []string{
		"TestSiteInAPage", "TestSitesLoopInAFrame", "TestCompressingHost", "TestModelOfOnesOwn", "TestDroppedModel",
	}},
	part{name: "site-hosts", packages: []string{"./web/site"}, tests: []string{"TestHosts"}},
	part{name: "npm-api", packages: []string{"./web/api"}, npm: true, tests: []string{
		"TestClientsFromNPM", "TestExamplesRunInEveryLanguage",
	}},
	part{
		name: "npm-engine", packages: []string{"./infer/sampling", "./infer/chat", "./infer/grammar"}, npm: true,
		tests: []string{"TestLlamaSamplersFromNPM", "TestIDsFromNPM", "TestConstrainedRuns"},
	},
)

// badNetworks returns a part for each last digit of the thousand schedules.
func badNetworks() (list []part) {
	for digit := range 10 {
		list = append(list, part{
			name:     fmt.Sprint("bad-networks-", digit),
			packages: []string{"./cmd/viz"},
			tests:    []string{"TestBadNetworks"},
			sub:      fmt.Sprintf("^schedule_[0-9]*%d$", digit),
		})
	}
	return list
}
